import { PermanentHostError } from './host.ts';

/** What the files of one install may take. Null: no limit. */
export interface InstallLimits {
  bytes: number | null;
  /** Files and folders. */
  files: number | null;
}

export const NO_LIMITS: InstallLimits = { bytes: null, files: null };

/** What the files of an install take. Of each file its length or the space it takes counts, whichever is more; so holes count. */
export interface InstallUsage {
  bytes: number;
  files: number;
}

const GB = 1024 ** 3;

/** The limits of the settings, in which 0 means none. */
export function installLimits({ diskGb, files }: { diskGb: number; files: number }): InstallLimits {
  return { bytes: diskGb === 0 ? null : diskGb * GB, files: files === 0 ? null : files };
}

/** Which limit `usage` exceeds, as the beginning of a sentence without a full stop; null if it keeps all. */
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

/** What a file counts, by its length and the space that it takes in blocks of 512 bytes. */
export function countedBytes(size: number, blocks: number): number {
  return Math.max(size, blocks * 512);
}
