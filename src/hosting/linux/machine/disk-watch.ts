import { repeatEvery } from '../../../lib/concurrency.ts';
import { type FreeSpace, freeSpace } from '../../../lib/free-space.ts';

const LOOK_EVERY_MS = 500;
/** The part of the free space that stays for others. */
const LEFT = 0.5;

/** Work used up more than its part of the free disk space. */
export class DiskFilled extends Error {
  override name = 'DiskFilled';
}

/** Runs work that writes files, and aborts it with {@link DiskFilled} once it has used up half of the free space. */
export async function watchingDisk<Result>(
  folder: string,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
  free: FreeSpace = freeSpace,
): Promise<Result> {
  const least = (await free(folder)) * LEFT;
  const filled = new AbortController();
  const look = async () => {
    if ((await free(folder)) < least) filled.abort(new DiskFilled('it filled the disk'));
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
