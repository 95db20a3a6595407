import { join } from 'node:path';
import { prepareDataFolder } from '../../app/data-folder.ts';
import type { Config } from '../../config/config.ts';
import { isLocked, lockForProcess } from '../../database/process-lock.ts';
import { OperatorError } from '../../lib/operator-error.ts';

type Folder = Pick<Config, 'dataDir'>;

const fileOf = ({ dataDir }: Folder): string => join(dataDir, 'websites.lock');

/**
 * Of two processes that serve the same websites, each would know only of the changes that it makes itself: one has them, until it releases
 * them. Throws OperatorError where that is another.
 */
export function lockWebsites(config: Folder): { release(): void } {
  prepareDataFolder(config.dataDir);
  const lock = lockForProcess(fileOf(config));
  if (lock) return lock;
  throw new OperatorError(
    `Another process serves the websites in ${config.dataDir} already. End it first, or start this one with "--only api".`,
  );
}

/** Whether a process serves them now, whatever it can still tell the database. */
export function areWebsitesServed(config: Folder): boolean {
  return isLocked(fileOf(config));
}
