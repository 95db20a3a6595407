import { PermanentHostError } from './errors.ts';

/** Limits for the files of one install. Null: no limit. */
export interface InstallLimits {
  bytes: number | null;
  /** Files and folders. */
  files: number | null;
}

export const NO_LIMITS: InstallLimits = { bytes: null, files: null };

/** Size and number of an install's files. Each file counts its length or its disk space, whichever is larger, so holes count. */
export interface InstallUsage {
  bytes: number;
  files: number;
}

const GB = 1024 ** 3;

/** Converts the settings, in which 0 means no limit. */
export function installLimits({ diskGb, files }: { diskGb: number; files: number }): InstallLimits {
  return { bytes: diskGb === 0 ? null : diskGb * GB, files: files === 0 ? null : files };
}

export const hasLimits = ({ bytes, files }: InstallLimits): boolean => bytes !== null || files !== null;

/** The limit that `usage` exceeds, as a sentence without a full stop; null if none. */
export function exceededLimit(usage: InstallUsage, limits: InstallLimits): string | null {
  if (limits.bytes !== null && usage.bytes > limits.bytes) {
    return `Disk quota exceeded: the files of an install may have ${limits.bytes / GB} GB in all, holes in sparse files included`;
  }
  if (limits.files !== null && usage.files > limits.files) {
    return `Disk quota exceeded: an install may have ${limits.files} files and folders`;
  }
  return null;
}

/** Throws a {@link PermanentHostError} if the install is too large for a backup. */
export function requireBackupAllowed(usage: InstallUsage, limits: InstallLimits): void {
  const exceeded = exceededLimit(usage, limits);
  if (exceeded === null) return;
  throw new PermanentHostError(`${exceeded}. Delete files, then request the backup again.`);
}

/** Block size of ext4, XFS and Btrfs. */
const BLOCK_BYTES = 4096;

/**
 * The bytes that a file of this length adds to a running count: whole blocks. It depends on the length only, so that creating and removing
 * a file cancel out.
 */
export function blockBytes(size: number): number {
  return Math.ceil(size / BLOCK_BYTES) * BLOCK_BYTES;
}

/** The bytes that a measured file counts. `blocks`: of 512 bytes. */
export function countedBytes(size: number, blocks: number): number {
  return Math.max(size, blocks * 512);
}
