import { lstat, rmdir } from 'node:fs/promises';
import type { Logger } from 'pino';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { runCommand } from '../machine/run-command.ts';

/** Empties page caches on disk, which nginx notices at the next request. */
export interface PageCache {
  /** No earlier page is served once it resolves. */
  purge(installId: string): Promise<void>;
  /** Removes the folder. Only for installs that nginx no longer knows, because its workers cannot create it again. */
  remove(installId: string): Promise<void>;
  stop(): void;
}

/**
 * Pages that PHP was generating during a purge are cached after it, so the cache is emptied again after these delays. Most pages
 * take less than the first one, and nginx waits for none longer than the last.
 */
const AGAIN_AFTER_MS = [1_000, 5_000, 30_000, 121_000];

export function createPageCache({
  cacheOf,
  log,
}: {
  cacheOf(installId: string): string;
  log: Logger;
}): PageCache {
  const timers = new Map<string, NodeJS.Timeout[]>();

  function forget(installId: string): void {
    for (const timer of timers.get(installId) ?? []) clearTimeout(timer);
    timers.delete(installId);
  }

  function emptyLater(installId: string): void {
    forget(installId);
    const empty = (): void => {
      deleteWithin(cacheOf(installId), FILES).catch((err: unknown) =>
        log.error({ err, install: installId }, 'could not empty the page cache again'),
      );
    };
    timers.set(
      installId,
      AGAIN_AFTER_MS.map((delay) => setTimeout(empty, delay).unref()),
    );
  }

  return {
    async purge(installId) {
      await deleteWithin(cacheOf(installId), FILES);
      emptyLater(installId);
    },
    async remove(installId) {
      forget(installId);
      await removeFolder(cacheOf(installId));
    },
    stop() {
      for (const installId of [...timers.keys()]) forget(installId);
    },
  };
}

/** A worker that is still answering a visitor may add a page in the meantime. */
async function removeFolder(folder: string): Promise<void> {
  for (let triesLeft = 5; await deleteWithin(folder, []); triesLeft--) {
    try {
      return await rmdir(folder);
    } catch (error) {
      if (!hasCode(error, 'ENOTEMPTY') || triesLeft === 0) throw error;
    }
  }
}

/** Files only: a worker that is about to write one needs its folder. */
const FILES = ['-type', 'f'];
const REMOVAL_MS = 10 * MINUTE_MS;

/**
 * Deletes the chosen entries of the folder with the rights of the folder's owner, because the web server's workers could replace
 * any folder inside by a link at the same time. The parent folder belongs to root. False if the folder is missing.
 */
async function deleteWithin(folder: string, chosen: string[]): Promise<boolean> {
  const owner = await ownerOf(folder);
  if (owner === null) return false;
  // nginx creates its folder as root and changes the owner a moment later.
  if (owner.uid === 0) return true;
  await runCommand(
    '/usr/bin/setpriv',
    [
      ...[`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', '--no-new-privs'],
      ...['--inh-caps=-all', '--bounding-set=-all', '--'],
      ...['/usr/bin/find', '-P', folder, '-ignore_readdir_race', '-mindepth', '1', ...chosen, '-delete'],
    ],
    { timeoutMs: REMOVAL_MS },
  );
  return true;
}

/** Null if the folder is missing. */
async function ownerOf(folder: string): Promise<{ uid: number; gid: number } | null> {
  return ifThere(lstat(folder));
}
