import { errorMessage } from '../../api/failure.ts';

/** So many installs the server takes in one request. */
export const AT_ONCE = 500;

export interface Named {
  id: string;
  name: string;
}

/** An install of which it could not be asked, and why. */
export interface RefusedInstall extends Named {
  sentence: string;
}

/**
 * Asks for as many at a time as the server takes, one request after the other, and returns the refused of all. A request that fails is a refusal of
 * its installs, and holds up no other; only where none succeeds there is nothing to tell but that, and the failure is thrown.
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
