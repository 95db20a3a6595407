/** Prints each check with the seconds since the beginning and its own, and counts failures. */
export interface Report {
  /** Something that takes a while begins. */
  step(what: string): void;
  /** Runs a check. A failure is printed and counted; true if it passed. */
  check(name: string, work: () => Promise<void>): Promise<boolean>;
  counts(): { passed: number; failed: number };
}

/** `write` gets whole lines. */
export function createReport(write: (line: string) => void, now: () => number): Report {
  const began = now();
  const counts = { passed: 0, failed: 0 };
  const secondsSince = (time: number) => Math.round((now() - time) / 1000);
  const line = (text: string) => write(`${String(secondsSince(began)).padStart(6)} s  ${text}\n`);
  return {
    step: (what) => line(`        ${what}`),
    async check(name, work) {
      const started = now();
      try {
        await work();
        counts.passed++;
        line(`passed  ${name} (${secondsSince(started)} s)`);
        return true;
      } catch (error) {
        counts.failed++;
        const why = error instanceof Error ? error.message : String(error);
        line(`failed  ${name} (${secondsSince(started)} s): ${why}`);
        return false;
      }
    },
    counts: () => ({ ...counts }),
  };
}
