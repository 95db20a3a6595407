import type { Logger } from 'pino';
import type { Database } from '../../../../database/database.ts';
import { singleFlight } from '../../../../lib/concurrency.ts';
import { type DeliveryOutcome, storeOutcomes } from './store.ts';

/** How long outcomes are gathered, in milliseconds. One transaction stores hundreds as fast as one. */
const GATHER_MS = 100;
const RETRY_MS = 1_000;
const STORED_AT_ONCE = 1_000;
/** With more outcomes unstored, nothing more is sent: a crash would repeat all of it. */
const MOST_UNSTORED = 2_000;

/** Stores the outcomes of attempts, many at a time. */
export interface OutcomeWriter {
  add(outcome: DeliveryOutcome): void;
  readonly isFull: boolean;
  /** Resolves when everything added before is stored. Rejects if the database fails. */
  flush(): Promise<void>;
}

export function createOutcomeWriter({ database, log }: { database: Database; log: Logger }): OutcomeWriter {
  /** By delivery: a later outcome replaces one that is not stored yet. */
  const unstored = new Map<number, DeliveryOutcome>();
  let isScheduled = false;

  const writeAll = singleFlight(async () => {
    while (unstored.size > 0) {
      const batch = [...unstored.values()].slice(0, STORED_AT_ONCE);
      await database.write(({ queries, dialect }) => storeOutcomes(queries, dialect, batch));
      for (const outcome of batch) {
        if (unstored.get(outcome.seq) === outcome) unstored.delete(outcome.seq);
      }
    }
  });

  function schedule(delayMs: number): void {
    if (isScheduled) return;
    isScheduled = true;
    setTimeout(() => {
      isScheduled = false;
      writeAll().catch((error: unknown) => {
        log.warn({ err: error }, 'could not store the outcomes of webhook deliveries; trying again');
        schedule(RETRY_MS);
      });
    }, delayMs).unref();
  }

  return {
    add(outcome) {
      unstored.set(outcome.seq, outcome);
      schedule(GATHER_MS);
    },
    get isFull() {
      return unstored.size >= MOST_UNSTORED;
    },
    async flush() {
      // The run in progress may have taken its last batch before the latest outcome.
      await writeAll();
      await writeAll();
    },
  };
}
