import { errorMessage } from '../../api/failure.ts';

/** The server's limit for one request. */
export const AT_ONCE = 500;

export interface Named {
  id: string;
  name: string;
}

/** The result of a request for an install: the ID of its operation, or why it was refused. */
export type Requested = Named & ({ operationId: string } | { refusal: string });

/**
 * Sends installs in batches, one after the other, and returns the result of each. A failed request counts as a refusal of its
 * installs. Throws the first failure if no request succeeds.
 */
export async function inBatches(
  installs: readonly Named[],
  ask: (slice: readonly Named[]) => Promise<Requested[]>,
): Promise<Requested[]> {
  const results: Requested[] = [];
  const failures: unknown[] = [];
  let asked = 0;
  for (let start = 0; start < installs.length; start += AT_ONCE) {
    const slice = installs.slice(start, start + AT_ONCE);
    try {
      results.push(...(await ask(slice)));
      asked += 1;
    } catch (error) {
      failures.push(error);
      const refusal = errorMessage(error);
      results.push(...slice.map(({ id, name }) => ({ id, name, refusal })));
    }
  }
  if (asked === 0 && failures.length > 0) throw failures[0];
  return results;
}
