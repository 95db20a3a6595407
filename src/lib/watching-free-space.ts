import { repeatEvery } from './concurrency.ts';
import { type FreeSpace, freeSpace } from './free-space.ts';

const LOOK_EVERY_MS = 500;

/** `least`: bytes that must stay free. `full`: the reason of the abort. */
export interface FreeSpaceWatch {
  folder: string;
  least: number;
  full(): Error;
  free?: FreeSpace;
}

/** Runs work that writes files, and aborts it with the reason `full` once the disk of the folder has less free space than `least`. */
export async function watchingFreeSpace<Result>(
  { folder, least, full, free = freeSpace }: FreeSpaceWatch,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const filled = new AbortController();
  const look = async () => {
    if ((await free(folder)) < least) filled.abort(full());
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
