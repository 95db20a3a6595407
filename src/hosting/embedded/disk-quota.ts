import type { Clock } from '../../clock.ts';
import { MINUTE_MS, SECOND_MS } from '../../durations.ts';
import { exceededLimit, type InstallLimits, type InstallUsage } from '../install-limits.ts';
import { measureFiles } from './measure-files.ts';

/** Measured again after this long, because others than SFTP change files too: a restore, the operator. */
const MEASURE_AFTER_MS = 10 * MINUTE_MS;
/** Before something is refused, it is measured again if the last measurement is older than this. */
const DOUBT_AFTER_MS = 10 * SECOND_MS;

/** A count of the space and files of each install. SFTP keeps it up to date, and it is measured now and then. */
export interface DiskQuotas {
  of(installId: string): DiskQuota;
  /** To be called when an install's files were replaced as a whole, or removed. */
  forget(installId: string): void;
}

export interface DiskQuota {
  /**
   * Counts a change before it is made; `bytes` and `files` may be negative. Returns the sentence to refuse it with, or null. A
   * change that frees space is never refused.
   */
  take(change: InstallUsage): Promise<string | null>;
}

interface Account extends InstallUsage {
  measuredAt: number;
}

export function createDiskQuotas({
  filesOf,
  limits,
  clock,
}: {
  filesOf(installId: string): string;
  limits: InstallLimits;
  clock: Clock;
}): DiskQuotas {
  const accounts = new Map<string, Account>();
  const measuring = new Map<string, Promise<Account>>();
  const hasLimits = limits.bytes !== null || limits.files !== null;

  function measure(installId: string): Promise<Account> {
    const present = measuring.get(installId);
    if (present !== undefined) return present;
    const measurement = measureFiles(filesOf(installId), limits)
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

  /** The account, measured less than `maxAgeMs` ago. */
  async function accountOf(installId: string, maxAgeMs: number): Promise<Account> {
    const account = accounts.get(installId);
    const isRecent = account !== undefined && clock.now().getTime() - account.measuredAt < maxAgeMs;
    return isRecent ? account : measure(installId);
  }

  function take(account: Account, { bytes, files }: InstallUsage): string | null {
    const after = { bytes: account.bytes + bytes, files: account.files + files };
    // Only what grows is refused.
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
        if (!hasLimits) return null;
        const refused = take(await accountOf(installId, MEASURE_AFTER_MS), change);
        if (refused === null) return null;
        return take(await accountOf(installId, DOUBT_AFTER_MS), change);
      },
    }),
    forget(installId) {
      accounts.delete(installId);
      measuring.delete(installId);
    },
  };
}
