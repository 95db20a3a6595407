import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { hasCode } from '../../error-code.ts';

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
      removeFiles(cacheOf(installId)).catch((err: unknown) =>
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
      await removeFiles(cacheOf(installId));
      emptyLater(installId);
    },
    async remove(installId) {
      forget(installId);
      await rm(cacheOf(installId), { recursive: true, force: true });
    },
    stop() {
      for (const installId of [...timers.keys()]) forget(installId);
    },
  };
}

/** Files alone: a worker that is about to write one must find its folder. */
async function removeFiles(folder: string): Promise<void> {
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await removeFiles(path);
    else await rm(path, { force: true });
  }
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return [];
    throw error;
  }
}
