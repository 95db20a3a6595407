import { join } from 'node:path';
import { prepareDataFolder } from '../../app/data-folder.ts';
import type { Config } from '../../config/config.ts';
import { isLocked, lockForProcess } from '../../database/process-lock.ts';
import { isDatabaseFault } from '../../database/unusable.ts';
import { messageOf } from '../../lib/error-message.ts';
import { OperatorError } from '../../lib/operator-error.ts';

type Folder = Pick<Config, 'dataDir'>;

const fileOf = ({ dataDir }: Folder): string => join(dataDir, 'websites.lock');

/**
 * Locks the websites for this process, because two processes would not see each other's changes. Throws OperatorError if another
 * process has the lock.
 */
export function lockWebsites(config: Folder): { release(): void } {
  prepareDataFolder(config.dataDir);
  const lock = lockOrExplain(config);
  if (lock) return lock;
  throw new OperatorError(
    `Another process serves the websites in ${config.dataDir} already. End it first, or start this one with "--only api".`,
  );
}

function lockOrExplain(config: Folder): { release(): void } | null {
  try {
    return lockForProcess(fileOf(config));
  } catch (error) {
    if (!isDatabaseFault(error)) throw error;
    throw new OperatorError(
      `The folder ${config.dataDir} cannot be locked: ${messageOf(error)}. Make room on its disk, and let this user write there.`,
      { cause: error },
    );
  }
}

/** Whether a process serves the websites, even if it no longer reports to the database. */
export function areWebsitesServed(config: Folder): boolean {
  return isLocked(fileOf(config));
}
