import { repeatEvery } from '../../../lib/concurrency.ts';
import { freeSpace, LEAST_FREE_BYTES } from '../../../lib/free-space.ts';
import { RefusedImportError } from '../../contract/errors.ts';

const LOOK_EVERY_MS = 2_000;

/** Runs work that fills a folder. Aborts it with a {@link RefusedImportError} if the disk has too little room for all websites. */
export async function watchingRoom<Result>(
  folder: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const filled = new AbortController();
  const look = async (): Promise<void> => {
    if ((await freeSpace(folder)) >= LEAST_FREE_BYTES) return;
    filled.abort(new RefusedImportError('The host has too little free space. Ask its operator.'));
  };
  const watch = repeatEvery(look, { delayMs: LOOK_EVERY_MS, onError: () => {}, immediately: true });
  try {
    return await work(signal === undefined ? filled.signal : AbortSignal.any([signal, filled.signal]));
  } catch (error) {
    throw filled.signal.aborted && signal?.aborted !== true ? filled.signal.reason : error;
  } finally {
    await watch.stop();
  }
}
