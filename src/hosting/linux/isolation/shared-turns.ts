/**
 * Runs each work in turns of `alone`, of which one is had at a time: what asks for one while an earlier one is waited for, or goes on, is
 * done together with all else that waits, one after the other in one turn. What fails fails alone.
 */
export function sharedTurns(
  alone: (work: () => Promise<void>) => Promise<void>,
): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: Waiting[] = [];
  let isTaking = false;

  async function takeTurns(): Promise<void> {
    isTaking = true;
    while (waiting.length > 0) await takeTurn();
    isTaking = false;
  }

  async function takeTurn(): Promise<void> {
    let batch: Waiting[] = [];
    try {
      await alone(async () => {
        // Only now, so that it has all who came while the turn was waited for.
        batch = waiting.splice(0);
        for (const { run } of batch) await run();
      });
    } catch (error) {
      // Without a turn all who wait for it fail; those who had theirs are done, and this says nothing to them.
      for (const { reject } of batch.length > 0 ? batch : waiting.splice(0)) reject(error);
    }
  }

  return (work) =>
    new Promise((resolve, reject) => {
      const run = () => work().then(resolve, reject);
      waiting.push({ run, reject });
      if (!isTaking) void takeTurns();
    });
}

interface Waiting {
  /** Never rejects: the outcome goes to who waits. */
  run(): Promise<void>;
  reject(reason: unknown): void;
}
