import { limitConcurrency, serializeByKey } from '../../../lib/concurrency.ts';

/** Runs a reading of an install's logs when its turn comes. Rejects without running it if the signal aborts before. */
export type ReadingTurns = <Result>(
  installId: string,
  signal: AbortSignal | undefined,
  read: () => Promise<Result>,
) => Promise<Result>;

/** Lets at most `most` installs read their logs at once, and each install once, so that no install keeps the others waiting. */
export function createReadingTurns(most: number): ReadingTurns {
  const serially = serializeByKey();
  const withPlace = limitConcurrency(most);
  return (installId, signal, read) =>
    serially(installId, async () => {
      signal?.throwIfAborted();
      return withPlace(async () => {
        signal?.throwIfAborted();
        return read();
      });
    });
}
