import { PermanentHostError } from './host.ts';

/** Limits for the files of one install. Null: no limit. */
export interface InstallLimits {
  bytes: number | null;
  /** Files and folders. */
  files: number | null;
}

export const NO_LIMITS: InstallLimits = { bytes: null, files: null };

/** Space and number of an install's files. Of each file the length or the space on disk counts, whichever is more, so holes count. */
export interface InstallUsage {
  bytes: number;
  files: number;
}

const GB = 1024 ** 3;

/** The limits of the settings, in which 0 means none. */
export function installLimits({ diskGb, files }: { diskGb: number; files: number }): InstallLimits {
  return { bytes: diskGb === 0 ? null : diskGb * GB, files: files === 0 ? null : files };
}

/** Names the limit that `usage` exceeds, in a sentence without a full stop. Null if it keeps all limits. */
export function exceededLimit(usage: InstallUsage, limits: InstallLimits): string | null {
  if (limits.bytes !== null && usage.bytes > limits.bytes) {
    return `Disk quota exceeded: the files of an install may have ${limits.bytes / GB} GB in all, holes in sparse files included`;
  }
  if (limits.files !== null && usage.files > limits.files) {
    return `Disk quota exceeded: an install may have ${limits.files} files and folders`;
  }
  return null;
}

/** Throws a {@link PermanentHostError} if a backup of so much would not be made. */
export function requireBackupAllowed(usage: InstallUsage, limits: InstallLimits): void {
  const exceeded = exceededLimit(usage, limits);
  if (exceeded === null) return;
  throw new PermanentHostError(`${exceeded}. Delete files, then request the backup again.`);
}

/** The blocks of ext4, XFS and Btrfs. */
const BLOCK_BYTES = 4096;

/**
 * The bytes that a file of this length counts while changes are counted: whole blocks, as the disk has it. Only lengths count then, so that
 * making and removing a file comes to nothing.
 */
export function blockBytes(size: number): number {
  return Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
}

/** The bytes that a measured file counts, by its length and its blocks of 512 bytes. */
export function countedBytes(size: number, blocks: number): number {
  return Math.max(size, blocks * 512);
}
