import type { Logger } from 'pino';

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 5_000;

/** Tracks a database that does not answer, so that each outage is logged once. */
export interface Outage {
  failed(error: unknown): void;
  over(): void;
  readonly present: boolean;
  /** Milliseconds until the next try: 250 ms · 2ⁿ, at most 5 s. 0 without an outage. */
  readonly delayMs: number;
}

/** `what` completes the sentence "could not …". */
export function createOutage(log: Logger, what: string): Outage {
  let failures = 0;
  return {
    failed(error) {
      if (failures === 0) log.error({ err: error }, `could not ${what}; trying again until it works`);
      failures++;
    },
    over() {
      if (failures > 0) log.info({ failures }, `could ${what} again`);
      failures = 0;
    },
    get present() {
      return failures > 0;
    },
    get delayMs() {
      return failures === 0
        ? 0
        : Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(failures - 1, 10));
    },
  };
}
