import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { HOUR_MS } from './durations.ts';
import { hasCode } from './error-code.ts';
import { syncFileSystem } from './sync-file-system.ts';

/** Longer than any build takes. */
const ABANDONED_AFTER_MS = HOUR_MS;

/**
 * Replaces `folder` by what `fill` writes into a fresh folder, once that is whole. A process that is killed meanwhile, or a power cut, leaves
 * `folder` as it was, or none. Several processes may do it at once: each writes for itself, and the last one to finish stays.
 */
export async function replaceFolder(folder: string, fill: (fresh: string) => Promise<void>): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true });
  const workplace = mkdtempSync(`${folder}-build-`);
  try {
    removeAbandoned(folder, statSync(workplace).mtimeMs);
    const fresh = join(workplace, 'fresh');
    mkdirSync(fresh);
    await fill(fresh);
    await syncFileSystem(fresh);
    // A folder with files cannot be replaced: an earlier build, or that of a process which was faster.
    for (let attempt = 1; !isRenamed(fresh, folder, 'ENOTEMPTY', 'EEXIST'); attempt++) {
      isRenamed(folder, join(workplace, `former-${attempt}`), 'ENOENT');
    }
  } finally {
    rmSync(workplace, { recursive: true, force: true });
  }
}

/** Renames it, and returns whether it could. These faults do not count as failures. */
function isRenamed(from: string, to: string, ...expected: string[]): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, ...expected)) return false;
    throw error;
  }
}

/** Removes what killed processes left. */
function removeAbandoned(folder: string, now: number): void {
  for (const name of readdirSync(dirname(folder))) {
    if (!name.startsWith(`${basename(folder)}-build-`)) continue;
    const place = join(dirname(folder), name);
    const age = now - (statSync(place, { throwIfNoEntry: false })?.mtimeMs ?? now);
    if (age > ABANDONED_AFTER_MS) rmSync(place, { recursive: true, force: true });
  }
}
