import { lstat, realpath } from 'node:fs/promises';
import {
  countedBytes,
  exceededLimit,
  type InstallLimits,
  type InstallUsage,
} from '../../contract/install-limits.ts';
import { isGone, joinBytes, walkTree } from './archive-tree.ts';

/** Measures the files in a folder. Stops as soon as a limit is exceeded, so its duration is bounded. */
export async function measureFiles(
  folder: string,
  limits: InstallLimits,
  signal?: AbortSignal,
): Promise<InstallUsage> {
  const usage: InstallUsage = { bytes: 0, files: 0 };
  const root = await realpath(folder, { encoding: 'buffer' });
  for await (const item of walkTree(root)) {
    signal?.throwIfAborted();
    if (item.path.length === 0) continue;
    usage.files += 1;
    if (item.kind === 'file') usage.bytes += await bytesOf(joinBytes(root, item.path));
    if (exceededLimit(usage, limits) !== null) break;
  }
  return usage;
}

async function bytesOf(path: Buffer): Promise<number> {
  try {
    const { size, blocks } = await lstat(path);
    return countedBytes(size, blocks);
  } catch (error) {
    if (isGone(error)) return 0;
    throw error;
  }
}
