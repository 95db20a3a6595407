import { messageOf } from '../../src/lib/error-message.ts';

interface Cleanup {
  act: () => Promise<void>;
  /** Once it has begun, which it does once. */
  underWay: Promise<void> | null;
}

/** What has to be taken away, the latest last. */
const pending: Cleanup[] = [];

function begin(cleanup: Cleanup): Promise<void> {
  cleanup.underWay ??= cleanup.act();
  return cleanup.underWay;
}

/** Does the work, and afterwards `act`, however it ends: also when the bench is interrupted ({@link cleanUpAll}). */
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

/** Takes away all that is still there, whoever has begun with it. */
export async function cleanUpAll(): Promise<void> {
  for (const cleanup of pending.toReversed()) {
    await begin(cleanup).catch((error: unknown) => {
      const why = messageOf(error);
      process.stderr.write(`Something was left behind: ${why}\n`);
    });
  }
}
