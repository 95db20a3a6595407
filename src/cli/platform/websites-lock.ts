import { join } from 'node:path';
import { prepareDataFolder } from '../../app/data-folder.ts';
import type { Config } from '../../config/config.ts';
import { isLocked, lockForProcess } from '../../database/process-lock.ts';
import { isDatabaseFault } from '../../database/unusable.ts';
import { messageOf } from '../../lib/error-message.ts';
import { OperatorError } from '../../lib/operator-error.ts';

type Folder = Pick<Config, 'dataDir'>;

const fileOf = ({ dataDir }: Folder): string => join(dataDir, 'websites.lock');

export interface WebsitesLock {
  release(): void;
}

/** Attempts of a server, with pauses between them: some 10 s. */
const ATTEMPTS = 15;

/**
 * Locks the websites for this process, because two processes would not see each other's changes. Throws OperatorError if another
 * process has the lock.
 */
export function lockWebsites(config: Folder): WebsitesLock {
  const lock = tryToLockWebsites(config);
  if (lock) return lock;
  throw new OperatorError(
    `Another process serves the websites in ${config.dataDir} already. End it first, or start this one with "--only api".`,
  );
}

/**
 * As {@link lockWebsites}, once a server that is stopping, or a command that works on the websites, has ended. `report` is called
 * before the first `pause`.
 */
export async function lockWebsitesSoon(
  config: Folder,
  { pause, report }: { pause(): Promise<void>; report(sentence: string): void },
): Promise<WebsitesLock> {
  for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
    const lock = tryToLockWebsites(config);
    if (lock) return lock;
    if (attempt === 1)
      report(`Waits for the end of another process, which uses the websites in ${config.dataDir}.`);
    await pause();
  }
  return lockWebsites(config);
}

/** As {@link lockWebsites}; null if another process has the lock. */
export function tryToLockWebsites(config: Folder): WebsitesLock | null {
  prepareDataFolder(config.dataDir);
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
