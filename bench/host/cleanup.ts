/** What has to be taken away, the latest last. */
const pending: (() => Promise<void>)[] = [];

/** Does the work, and afterwards `cleanup`, however it ends: also when the bench is interrupted ({@link cleanUpAll}). */
export async function withCleanup<Result>(
  cleanup: () => Promise<void>,
  work: () => Promise<Result>,
): Promise<Result> {
  pending.push(cleanup);
  try {
    return await work();
  } finally {
    const index = pending.indexOf(cleanup);
    if (index >= 0) {
      pending.splice(index, 1);
      await cleanup();
    }
  }
}

/** Takes away all that is still there. */
export async function cleanUpAll(): Promise<void> {
  for (let cleanup = pending.pop(); cleanup !== undefined; cleanup = pending.pop()) {
    await cleanup().catch((error: unknown) => {
      process.stderr.write(
        `Something was left behind: ${error instanceof Error ? error.message : String(error)}\n`,
      );
    });
  }
}
