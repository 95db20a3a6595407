import { errorMessage } from '../../api/failure.ts';

/** The server's limit for one request. */
export const AT_ONCE = 500;

export interface Named {
  id: string;
  name: string;
}

/** An install for which the action was refused, and why. */
export interface RefusedInstall extends Named {
  sentence: string;
}

/**
 * Sends installs in batches, one after the other, and returns all refused ones. A failed request counts as a refusal
 * of its installs. Throws the first failure if no request succeeds.
 */
export async function inBatches(
  installs: readonly Named[],
  ask: (slice: readonly Named[]) => Promise<RefusedInstall[]>,
): Promise<RefusedInstall[]> {
  const left: RefusedInstall[] = [];
  const failures: unknown[] = [];
  let asked = 0;
  for (let start = 0; start < installs.length; start += AT_ONCE) {
    const slice = installs.slice(start, start + AT_ONCE);
    try {
      left.push(...(await ask(slice)));
      asked += 1;
    } catch (error) {
      failures.push(error);
      const sentence = errorMessage(error);
      left.push(...slice.map(({ id, name }) => ({ id, name, sentence })));
    }
  }
  if (asked === 0 && failures.length > 0) throw failures[0];
  return left;
}
