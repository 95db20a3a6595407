import { messageOf } from '../../src/lib/error-message.ts';

interface Cleanup {
  act: () => Promise<void>;
  /** Set once the cleanup has begun. It runs only once. */
  underWay: Promise<void> | null;
}

/** Pending cleanup actions, the latest last. */
const pending: Cleanup[] = [];

function begin(cleanup: Cleanup): Promise<void> {
  cleanup.underWay ??= cleanup.act();
  return cleanup.underWay;
}

/** Runs the work and then `act`, even if the work fails or the bench is interrupted ({@link cleanUpAll}). */
export async function withCleanup<Result>(
  act: () => Promise<void>,
  work: () => Promise<Result>,
): Promise<Result> {
  const cleanup: Cleanup = { act, underWay: null };
  pending.push(cleanup);
  try {
    return await work();
  } finally {
    await begin(cleanup);
    pending.splice(pending.indexOf(cleanup), 1);
  }
}

/** Runs all remaining cleanup actions. */
export async function cleanUpAll(): Promise<void> {
  for (const cleanup of pending.toReversed()) {
    await begin(cleanup).catch((error: unknown) => {
      const why = messageOf(error);
      process.stderr.write(`Something was left behind: ${why}\n`);
    });
  }
}
