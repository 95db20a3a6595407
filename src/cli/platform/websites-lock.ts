import { join } from 'node:path';
import { prepareDataFolder } from '../../app/data-folder.ts';
import type { Config } from '../../config/config.ts';
import { isLocked, lockForProcess } from '../../database/process-lock.ts';
import { isDatabaseFault } from '../../database/unusable.ts';
import { messageOf } from '../../lib/error-message.ts';
import { OperatorError } from '../../lib/operator-error.ts';

type Folder = Pick<Config, 'dataDir'>;

const fileOf = ({ dataDir }: Folder): string => join(dataDir, 'websites.lock');
/** Locked by a server that waits for the websites. */
const waitingFileOf = ({ dataDir }: Folder): string => join(dataDir, 'websites-waiting.lock');

export interface WebsitesLock {
  release(): void;
}

/** Attempts of a server, with pauses between them: about 20 s. A server that stops takes up to 15 s (app/shutdown.ts). */
const ATTEMPTS = 28;

/**
 * Locks the websites for this process, because two processes would not see each other's changes. Throws OperatorError if another
 * process has the lock.
 */
export function lockWebsites(config: Folder): WebsitesLock {
  const lock = tryToLockWebsites(config);
  if (lock) return lock;
  throw new OperatorError(
    `Another process uses the websites in ${config.dataDir}: a server, or a command. End it first, or start this one with "--only api".`,
  );
}

/**
 * As {@link lockWebsites}, once a server that is stopping has ended, or a command has released the lock because of
 * {@link isServerWaiting}. `report` is called before the first `pause`.
 */
export async function lockWebsitesSoon(
  config: Folder,
  {
    pause,
    report,
    attempts = ATTEMPTS,
  }: { pause(): Promise<void>; report(sentence: string): void; attempts?: number },
): Promise<WebsitesLock> {
  const first = tryToLockWebsites(config);
  if (first) return first;
  report(`Waiting for another process that uses the websites in ${config.dataDir}.`);
  let waiting: WebsitesLock | null = null;
  try {
    for (let attempt = 2; attempt < attempts; attempt++) {
      // Another server may wait, too, and end before this one.
      waiting ??= tryToLock(config, waitingFileOf(config));
      await pause();
      const lock = tryToLockWebsites(config);
      if (lock) return lock;
    }
    await pause();
    return lockWebsites(config);
  } finally {
    waiting?.release();
  }
}

/** As {@link lockWebsites}; null if another process has the lock. */
export function tryToLockWebsites(config: Folder): WebsitesLock | null {
  prepareDataFolder(config.dataDir);
  return tryToLock(config, fileOf(config));
}

function tryToLock(config: Folder, file: string): WebsitesLock | null {
  try {
    return lockForProcess(file);
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

/** Whether a server waits for the lock. A command that runs a job releases it then, because visitors wait, too. */
export function isServerWaiting(config: Folder): boolean {
  return isLocked(waitingFileOf(config));
}
