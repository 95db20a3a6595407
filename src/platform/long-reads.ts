import { setImmediate as nextTurn } from 'node:timers/promises';
import { serializeByKey, untilAborted } from '../lib/concurrency.ts';
import { ClientLeft, RateLimited } from '../lib/failures.ts';

/** Reads of one account in progress or waiting, in this process. A client that repeats its request cannot gather more. */
export const MOST_READS = 20;
const RETRY_SECONDS = 5;

/** Makes one part of a read, some milliseconds long, when its turn comes. Other requests are answered between parts. */
export type InTurn = (part: () => Promise<void>) => Promise<void>;

/** Reads that no index answers, so that they take longer in a larger account: sums and searches. */
export interface LongReads {
  /**
   * Runs the reads of an account one after the other, and those of several accounts side by side, one part of each in turn. `gone` aborts
   * when the client disconnects: the read ends with its present part. Throws RateLimited if the account has {@link MOST_READS}.
   */
  run<Result>(
    accountId: string,
    gone: AbortSignal,
    read: (inTurn: InTurn) => Promise<Result>,
  ): Promise<Result>;
}

/** Reads that share it are made side by side, one part of each in turn. So a large account does not keep a small one waiting. */
export function createTurns(): InTurn {
  const serially = serializeByKey();
  return (part) =>
    serially('part', async () => {
      await part();
      await nextTurn();
    });
}

export function createLongReads(): LongReads {
  const turn = createTurns();
  const reads = serializeByKey();
  /** Reads by account whose clients still wait. */
  const waiting = new Map<string, number>();

  function count(accountId: string, by: 1 | -1): void {
    const reads = (waiting.get(accountId) ?? 0) + by;
    if (reads === 0) waiting.delete(accountId);
    else waiting.set(accountId, reads);
  }

  return {
    async run(accountId, gone, read) {
      if ((waiting.get(accountId) ?? 0) >= MOST_READS) {
        throw new RateLimited(
          RETRY_SECONDS,
          `${MOST_READS} searches and sums of usage of this account are in progress already`,
        );
      }
      const requireClient = () => {
        if (gone.aborted) throw new ClientLeft();
      };
      const inTurn: InTurn = (part) =>
        turn(async () => {
          requireClient();
          await part();
        });
      count(accountId, 1);
      try {
        const result = reads(accountId, async () => {
          requireClient();
          return read(inTurn);
        });
        // Gives the place back at once.
        return await untilAborted(result, gone);
      } catch (error) {
        requireClient();
        throw error;
      } finally {
        count(accountId, -1);
      }
    },
  };
}
