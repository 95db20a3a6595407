import { createReadStream } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createFolders } from '../lib/create-folders.ts';
import { syncFolder } from '../lib/durable-file.ts';
import { hasCode } from '../lib/error-code.ts';
import { messageOf } from '../lib/error-message.ts';
import { ifThere } from '../lib/if-there.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { MANIFEST_FILE } from './manifest.ts';
import { BACKUP_NAME, type BackupStorage, beginningOf, type FilePlace, SHARED } from './storage.ts';

const UNFINISHED = '.partial';

/**
 * Backups in a folder: each is a folder, renamed to its name once all of it is on the disk. Equal files are links to one file, so each
 * backup is whole without the others.
 */
export function createFolderStorage(folder: string): BackupStorage {
  const partialOf = (name: string) => join(folder, `.${name}${UNFINISHED}`);

  return {
    address: folder,
    async begin(name) {
      const partial = partialOf(name);
      makeUsable(folder);
      await mkdir(partial, { mode: 0o700 });
      const folders = new Set([partial]);
      async function place(path: string): Promise<string> {
        const file = join(partial, path);
        for (let above = dirname(file); !folders.has(above); above = dirname(above)) folders.add(above);
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        return file;
      }
      return {
        place,
        async keep(path): Promise<FilePlace> {
          await syncFile(join(partial, path));
          return { path };
        },
        async reuse(backup, { path, bytes }) {
          const former = join(folder, backup, path);
          const stats = await ifThere(lstat(former));
          if (stats?.isFile() !== true || stats.size !== bytes) return null;
          const file = await place(path);
          const linked = `${file}.linked`;
          if (!(await linkIfPossible(former, linked))) return null;
          await rename(linked, file);
          return { path };
        },
        async finish(manifest) {
          const file = await open(join(partial, MANIFEST_FILE), 'wx', 0o600);
          try {
            await file.writeFile(manifest);
            await file.sync();
          } finally {
            await file.close();
          }
          for (const one of folders) await syncFolder(one);
          await rename(partial, join(folder, name));
          await syncFolder(folder);
        },
        discard: () => rm(partial, { recursive: true, force: true }),
      };
    },
    async list() {
      const names = (await ifThere(readdir(folder))) ?? [];
      const complete: string[] = [];
      for (const name of names.filter((one) => BACKUP_NAME.test(one)).sort()) {
        if ((await ifThere(stat(join(folder, name, MANIFEST_FILE)))) !== null) complete.push(name);
      }
      return complete;
    },
    async read(name, { path, stored_in }, from = 0) {
      // A copy of a bucket has shared files.
      const place = stored_in === undefined ? join(folder, name) : join(folder, SHARED, stored_in);
      const file = await ifThere(open(join(place, path)));
      return file === null
        ? null
        : createReadStream('', { fd: file, start: from, highWaterMark: 256 * 1024 });
    },
    async remove(name) {
      // Renamed first: a process killed during the deletion leaves nothing that looks whole.
      await rename(join(folder, name), partialOf(name));
      await syncFolder(folder);
      await rm(partialOf(name), { recursive: true, force: true });
    },
    async removeUnfinished(before) {
      const removed: string[] = [];
      for (const entry of (await ifThere(readdir(folder))) ?? []) {
        if (!entry.startsWith('.') || !entry.endsWith(UNFINISHED)) continue;
        const name = entry.slice(1, -UNFINISHED.length);
        const began = beginningOf(name);
        if (began === null || began >= before) continue;
        await rm(join(folder, entry), { recursive: true, force: true });
        removed.push(name);
      }
      return removed;
    },
    // Links count their uses.
    async removeUnused() {},
    close() {},
  };
}

/** False on a file system without hard links, and if the file has too many. */
async function linkIfPossible(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, 'EPERM', 'EACCES', 'ENOTSUP', 'ENOSYS', 'EMLINK', 'EXDEV', 'ENOENT')) return false;
    throw error;
  }
}

async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

function makeUsable(folder: string): void {
  try {
    createFolders(folder, 0o700);
  } catch (error) {
    throw new OperatorError(
      `The folder ${folder} for platform backups cannot be used (${messageOf(error)}). Make it a folder that this user can read and write, or name another one.`,
      { cause: error },
    );
  }
}
