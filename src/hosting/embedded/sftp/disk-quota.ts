import type { Stats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Clock } from '../../../lib/clock.ts';
import { MINUTE_MS, SECOND_MS } from '../../../lib/durations.ts';
import { hasCode } from '../../../lib/error-code.ts';
import {
  countedBytes,
  exceededLimit,
  hasLimits,
  type InstallLimits,
  type InstallUsage,
} from '../../contract/install-limits.ts';

/** Time until the next measurement, because restores and operators change files too. */
const MEASURE_AFTER_MS = 10 * MINUTE_MS;
/** A refusal is based on a measurement at most this old. */
const DOUBT_AFTER_MS = 10 * SECOND_MS;

/** Counts the space and files of each install. SFTP keeps the count up to date between measurements. */
export interface DiskQuotas {
  of(installId: string): DiskQuota;
  /** Call this after all files of an install were replaced or removed. */
  forget(installId: string): void;
}

export interface DiskQuota {
  /**
   * Counts a change before it is made, or afterwards if it frees space; `bytes` and `files` may be negative. Returns the reason to refuse
   * it, or null. A change that frees space is never refused.
   */
  take(change: InstallUsage): Promise<string | null>;
  /** Tracks an open file. Its space stays in use after its last name is removed, where measuring the folder cannot find it. */
  opened(file: FileHandle, stats: Inode): void;
  /** Call this before the file is closed. */
  closed(file: FileHandle): void;
  isOpen(stats: Inode): boolean;
}

type Inode = Pick<Stats, 'dev' | 'ino'>;

interface Account extends InstallUsage {
  measuredAt: number;
}

export function createDiskQuotas({
  measure: measureInstall,
  limits,
  clock,
}: {
  /** Measures everything that counts, until a limit is exceeded. */
  measure(installId: string): Promise<InstallUsage>;
  limits: InstallLimits;
  clock: Clock;
}): DiskQuotas {
  const accounts = new Map<string, Account>();
  const measuring = new Map<string, Promise<Account>>();
  /** Open files of each install, with their inodes. */
  const openFiles = new Map<string, Map<FileHandle, string>>();
  const isLimited = hasLimits(limits);

  function measure(installId: string): Promise<Account> {
    const present = measuring.get(installId);
    if (present !== undefined) return present;
    const measurement = measureInstall(installId)
      .then(async ({ bytes, files }) => ({ bytes: bytes + (await removedBytes(installId)), files }))
      .then((usage) => {
        const account = { ...usage, measuredAt: clock.now().getTime() };
        if (measuring.get(installId) === measurement) accounts.set(installId, account);
        return account;
      })
      .finally(() => {
        if (measuring.get(installId) === measurement) measuring.delete(installId);
      });
    measuring.set(installId, measurement);
    return measurement;
  }

  /** Space of open files that no longer have a name. */
  async function removedBytes(installId: string): Promise<number> {
    const files = new Map([...(openFiles.get(installId) ?? [])].map(([file, inode]) => [inode, file]));
    let sum = 0;
    for (const file of files.values()) sum += await bytesIfRemoved(file);
    return sum;
  }

  /** The count of an install, measured less than `maxAgeMs` ago. */
  async function accountOf(installId: string, maxAgeMs: number): Promise<Account> {
    const account = accounts.get(installId);
    const isRecent = account !== undefined && clock.now().getTime() - account.measuredAt < maxAgeMs;
    return isRecent ? account : measure(installId);
  }

  function take(account: Account, { bytes, files }: InstallUsage): string | null {
    const after = { bytes: account.bytes + bytes, files: account.files + files };
    // Only growth is refused.
    const exceeded = exceededLimit(
      { bytes: bytes > 0 ? after.bytes : 0, files: files > 0 ? after.files : 0 },
      limits,
    );
    if (exceeded !== null) return exceeded;
    account.bytes = after.bytes;
    account.files = after.files;
    return null;
  }

  return {
    of: (installId) => ({
      async take(change) {
        if (!isLimited) return null;
        if (change.bytes <= 0 && change.files <= 0) {
          // Not measured here: the deleted files would be subtracted twice.
          const account = accounts.get(installId);
          return account === undefined ? null : take(account, change);
        }
        const refused = take(await accountOf(installId, MEASURE_AFTER_MS), change);
        if (refused === null) return null;
        return take(await accountOf(installId, DOUBT_AFTER_MS), change);
      },
      opened(file, stats) {
        const files = openFiles.get(installId) ?? new Map<FileHandle, string>();
        openFiles.set(installId, files.set(file, nameOf(stats)));
      },
      closed(file) {
        const files = openFiles.get(installId);
        files?.delete(file);
        if (files?.size === 0) openFiles.delete(installId);
      },
      isOpen(stats) {
        return [...(openFiles.get(installId)?.values() ?? [])].includes(nameOf(stats));
      },
    }),
    forget(installId) {
      accounts.delete(installId);
      measuring.delete(installId);
    },
  };
}

function nameOf({ dev, ino }: Inode): string {
  return `${dev} ${ino}`;
}

async function bytesIfRemoved(file: FileHandle): Promise<number> {
  try {
    const { nlink, size, blocks } = await file.stat();
    return nlink === 0 ? countedBytes(size, blocks) : 0;
  } catch (error) {
    // Closed meanwhile.
    if (hasCode(error, 'EBADF')) return 0;
    throw error;
  }
}
