import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { RepositoryStorage } from './repository-storage.ts';

/** Folders that restic expects in a repository. */
const FOLDERS = ['data', 'index', 'keys', 'locks', 'snapshots'];

/** A repository in a folder of root. */
export function folderStorage(folder: string): RepositoryStorage {
  return {
    async has(name) {
      try {
        await lstat(join(folder, name));
        return true;
      } catch (error) {
        if (hasCode(error, 'ENOENT')) return false;
        throw error;
      }
    },

    list: async (name) => (await ifThere(readdir(join(folder, name)))) ?? [],

    async read(name, { offset, length }) {
      const file = await ifThere(open(join(folder, name), constants.O_RDONLY | constants.O_NOFOLLOW));
      if (file === null) return null;
      try {
        const buffer = Buffer.allocUnsafe(length);
        let filled = 0;
        while (filled < length) {
          const { bytesRead } = await file.read(buffer, filled, length - filled, offset + filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
        return buffer.subarray(0, filled);
      } finally {
        await file.close();
      }
    },

    async write(name, content) {
      for (const part of FOLDERS) await mkdir(join(folder, part), { recursive: true, mode: 0o700 });
      const path = join(folder, name);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const temporary = join(folder, `.${name.replaceAll('/', '-')}.tmp`);
      await rm(temporary, { force: true });
      const file = await open(temporary, 'wx', 0o600);
      try {
        await file.writeFile(content);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
      await syncFolder(dirname(path));
    },

    remove: (name) => rm(join(folder, name), { force: true }),

    removeAll: () => rm(folder, { recursive: true, force: true }),
  };
}
