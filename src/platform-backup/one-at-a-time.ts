import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { lockForProcess } from '../database/process-lock.ts';
import { isDatabaseFault } from '../database/unusable.ts';
import { OperatorError } from '../lib/operator-error.ts';

/** In the data folder. Locked while a process makes a backup from it. */
export const BACKUP_LOCK = 'platform-backup.lock';

/** Another process, or this one, makes a backup from the same data folder. */
export class BackupUnderWay extends OperatorError {}

/**
 * Runs `work` unless another backup is made from this data folder: each has the copy of a website's database in the same place. A data
 * folder that is full or read-only prevents no backup.
 */
export async function oneAtATime<Result>(
  { dataDir }: Pick<Config, 'dataDir'>,
  log: Logger,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = lockOrNone(join(dataDir, BACKUP_LOCK), log);
  if (lock === null) {
    throw new BackupUnderWay(
      `Another platform backup is being made from ${dataDir}. Wait until that has ended, and try again.`,
    );
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function lockOrNone(file: string, log: Logger): ReturnType<typeof lockForProcess> {
  try {
    // No process only tests this lock. Waiting for it would stop the websites of this process, too.
    return lockForProcess(file, { looksMs: 0 });
  } catch (err) {
    if (!isDatabaseFault(err)) throw err;
    log.warn({ err, file }, 'could not keep other platform backups from running at the same time');
    return { release() {} };
  }
}
