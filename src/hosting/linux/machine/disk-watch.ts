import { type FreeSpace, freeSpace } from '../../../lib/free-space.ts';
import { watchingFreeSpace } from '../../../lib/watching-free-space.ts';

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
  const full = () => new DiskFilled('it filled the disk');
  return watchingFreeSpace({ folder, least, full, free }, signal, work);
}
