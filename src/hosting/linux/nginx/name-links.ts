import { readdir, readlink, rename, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { syncFolder } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';

/** A folder of links from host names to files of installs, `<id>.json` in a folder beside it. */
export interface NameLinks {
  /** The install that each name leads to. */
  holders(): Promise<Map<string, string>>;
  /** Makes a name lead to the file of an install; null: to none. */
  setHolder(hostname: string, installId: string | null): Promise<void>;
  /** Writes the links to disk. */
  sync(): Promise<void>;
}

const FILE = /^([0-9a-f-]{36})\.json$/;

export function createNameLinks(folder: string, files: string): NameLinks {
  const beside = join('..', basename(files));

  return {
    async holders() {
      const holders = new Map<string, string>();
      for (const entry of await readdir(folder, { withFileTypes: true })) {
        const to = entry.isSymbolicLink() ? await ifThere(readlink(join(folder, entry.name))) : null;
        const id = to === null ? undefined : FILE.exec(basename(to))?.[1];
        // Anything else leads to no install, so that it is replaced or removed.
        holders.set(entry.name, id !== undefined && to === join(beside, `${id}.json`) ? id : '');
      }
      return holders;
    },

    async setHolder(hostname, id) {
      const link = join(folder, hostname);
      if (id === null) return rm(link, { force: true, recursive: true });
      const temporary = join(folder, `.${id}`);
      await rm(temporary, { force: true });
      await symlink(join(beside, `${id}.json`), temporary);
      await rename(temporary, link);
    },

    sync: () => syncFolder(folder),
  };
}
