import { lstat, rmdir } from 'node:fs/promises';
import type { Logger } from 'pino';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { runCommand } from '../machine/run-command.ts';

/** Empties page caches on disk, which nginx notices at the next request. */
export interface PageCache {
  /** Nothing that was kept before is shown once it resolves. */
  purge(installId: string): Promise<void>;
  /** Takes the folder away. Only for installs that nginx knows no more: a worker cannot make it again. */
  remove(installId: string): Promise<void>;
  stop(): void;
}

/**
 * What PHP was making while its website was purged is kept after it, so the cache is emptied once more when that is over: most pages
 * take less than the first, and nginx waits for none longer than the last.
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
        log.error({ err, install: installId }, 'the page cache could not be emptied once more'),
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

/** A worker that still answers a visitor may put a page into it meanwhile. */
async function removeFolder(folder: string): Promise<void> {
  for (let triesLeft = 5; await deleteWithin(folder, []); triesLeft--) {
    try {
      return await rmdir(folder);
    } catch (error) {
      if (!hasCode(error, 'ENOTEMPTY') || triesLeft === 0) throw error;
    }
  }
}

/** Files alone: a worker that is about to write one must find its folder. */
const FILES = ['-type', 'f'];
const REMOVAL_MS = 10 * MINUTE_MS;

/**
 * Deletes what of the folder's content is chosen, with no other rights than the folder's owner has: the web server's workers may
 * exchange any folder in it for a link while this goes on. The folder itself lies in one of root's. False if it is not there.
 */
async function deleteWithin(folder: string, chosen: string[]): Promise<boolean> {
  const owner = await ownerOf(folder);
  if (owner === null) return false;
  // nginx gives its folder away right after making it.
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

/** Null if there is no such folder. */
async function ownerOf(folder: string): Promise<{ uid: number; gid: number } | null> {
  return ifThere(lstat(folder));
}
