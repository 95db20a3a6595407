import { chmod, mkdir, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { removeDurably, replaceAtomically, syncFolder } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { type EdgeRow, parseRow } from '../../policy/edge-row.ts';
import { ensureFolder } from '../isolation/owned-folder.ts';
import type { TablePaths } from './edge-options.ts';

/**
 * The edge's table on disk: a row for each install, and a link to a row for each host name. Each file is replaced in one step, so that
 * nginx reads it whole at any time.
 */
export interface EdgeTable {
  /** Creates the folders. `gid`: the group of nginx's workers. They read rows by name, and list nothing. */
  prepare(gid: number): Promise<void>;
  /** The readable rows. */
  rows(): Promise<Map<string, EdgeRow>>;
  /** Ids of the installs that have a row, readable or not. */
  ids(): Promise<string[]>;
  /** False if the file was already right. */
  writeRow(row: EdgeRow): Promise<boolean>;
  removeRow(installId: string): Promise<void>;
  /** Whether the file of the row is unchanged. */
  isIntact(row: EdgeRow): Promise<boolean>;
  /** The install that each name leads to. */
  holders(): Promise<Map<string, string>>;
  /** Makes a name lead to the row of an install; null: to none. */
  setHolder(hostname: string, installId: string | null): Promise<void>;
  /** Writes the links to disk. */
  syncNames(): Promise<void>;
}

export function createEdgeTable(paths: TablePaths): EdgeTable {
  let group: number | undefined;
  const rowFile = (id: string) => join(paths.installs, `${id}.json`);
  const target = (id: string) => join('..', 'installs', `${id}.json`);

  async function ids(): Promise<string[]> {
    return (await readdir(paths.installs)).flatMap((name) => ROW_FILE.exec(name)?.[1] ?? []);
  }

  return {
    async prepare(gid) {
      group = gid;
      await mkdir(paths.lua, { recursive: true });
      await chmod(paths.lua, 0o755);
      for (const folder of [paths.folder, paths.installs, paths.names]) {
        await ensureFolder(folder, { uid: 0, gid, mode: 0o710 });
      }
    },

    ids,

    async rows() {
      const rows = new Map<string, EdgeRow>();
      for (const id of await ids()) {
        const text = await ifThere(readFile(rowFile(id), 'utf8'));
        const row = text === null ? null : parsed(text);
        if (row?.id === id) rows.set(id, row);
      }
      return rows;
    },

    async writeRow(row) {
      const text = JSON.stringify(row);
      if ((await ifThere(readFile(rowFile(row.id), 'utf8'))) === text) return false;
      await replaceAtomically(rowFile(row.id), text, {
        mode: 0o640,
        ...(group === undefined ? {} : { gid: group }),
      });
      await syncFolder(paths.installs);
      return true;
    },

    removeRow: (id) => removeDurably(rowFile(id)),
    isIntact: async (row) => (await ifThere(readFile(rowFile(row.id), 'utf8'))) === JSON.stringify(row),

    async holders() {
      const holders = new Map<string, string>();
      for (const entry of await readdir(paths.names, { withFileTypes: true })) {
        const to = entry.isSymbolicLink() ? await ifThere(readlink(join(paths.names, entry.name))) : null;
        const id = to === null ? undefined : LINK.exec(to)?.[1];
        // Anything else leads to no install, so that it is replaced or removed.
        holders.set(entry.name, id ?? '');
      }
      return holders;
    },

    async setHolder(hostname, id) {
      const link = join(paths.names, hostname);
      if (id === null) return rm(link, { force: true, recursive: true });
      const temporary = join(paths.names, `.${id}`);
      await rm(temporary, { force: true });
      await symlink(target(id), temporary);
      await rename(temporary, link);
    },

    syncNames: () => syncFolder(paths.names),
  };
}

const ROW_FILE = /^([0-9a-f-]{36})\.json$/;
const LINK = /^\.\.\/installs\/([0-9a-f-]{36})\.json$/;

/** Null for a row that cannot be read: it is written again, or removed. */
function parsed(text: string): EdgeRow | null {
  try {
    return parseRow(text);
  } catch {
    return null;
  }
}
