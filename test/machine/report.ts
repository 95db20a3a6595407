/** Prints each check with the seconds since the beginning, and counts failures. */
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
  const line = (text: string) => {
    const seconds = Math.round((now() - began) / 1000);
    write(`${String(seconds).padStart(6)} s  ${text}\n`);
  };
  return {
    step: (what) => line(`        ${what}`),
    async check(name, work) {
      try {
        await work();
        counts.passed++;
        line(`passed  ${name}`);
        return true;
      } catch (error) {
        counts.failed++;
        line(`failed  ${name}: ${error instanceof Error ? error.message : String(error)}`);
        return false;
      }
    },
    counts: () => ({ ...counts }),
  };
}
