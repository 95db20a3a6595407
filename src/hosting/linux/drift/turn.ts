/**
 * Does `work` in a turn of its own among all that is done for the same key, if the turn comes within so many milliseconds; null if it
 * does not, and `work` is not begun then. Once begun it takes as long as it takes.
 */
export function withinTurn<Result>(
  serially: (work: () => Promise<void>) => Promise<void>,
  withinMs: number,
  work: () => Promise<Result>,
): Promise<Result | null> {
  return new Promise((resolve, reject) => {
    let isGivenUp = false;
    const timer = setTimeout(() => {
      isGivenUp = true;
      resolve(null);
    }, withinMs);
    serially(async () => {
      clearTimeout(timer);
      if (!isGivenUp) resolve(await work());
    }).catch(reject);
  });
}
