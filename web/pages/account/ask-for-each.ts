import { sentenceFor } from '../../api/failure.ts';

export interface Named {
  id: string;
  name: string;
}

/** An install for which it could not be asked, and why. */
export interface NotDone extends Named {
  sentence: string;
}

const AT_ONCE = 4;

/** Asks for the same for each install, a few at a time, and for the others too where one is refused. Returns the refused, in their order. */
export async function askForEach(
  installs: readonly Named[],
  ask: (install: Named) => Promise<unknown>,
  told: (count: number) => void,
): Promise<NotDone[]> {
  const refused = new Map<string, string>();
  const waiting = [...installs];
  let count = 0;
  const work = async () => {
    for (let install = waiting.shift(); install !== undefined; install = waiting.shift()) {
      try {
        await ask(install);
      } catch (error) {
        refused.set(install.id, sentenceFor(error));
      }
      count += 1;
      told(count);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return installs.flatMap(({ id, name }) => {
    const sentence = refused.get(id);
    return sentence === undefined ? [] : [{ id, name, sentence }];
  });
}
