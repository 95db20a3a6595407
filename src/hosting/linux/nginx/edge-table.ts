import { chmod, mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { removeDurably, removeTemporary, replaceAtomically, syncFolder } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { type EdgeRow, parseRow } from '../../policy/edge-row.ts';
import { ensureFolder } from '../isolation/owned-folder.ts';
import type { TablePaths } from './edge-options.ts';
import { createNameLinks, type NameLinks } from './name-links.ts';

/**
 * The edge's table on disk: a row for each install, and a link to a row for each host name. Each file is replaced in one step, so that
 * nginx reads it whole at any time.
 */
export interface EdgeTable {
  /** Creates the folders, and removes what an interrupted write left there. `gid`: the group of nginx's workers. They read rows by name, and list nothing. */
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
  holders: NameLinks['holders'];
  setHolder: NameLinks['setHolder'];
  syncNames: NameLinks['sync'];
}

export function createEdgeTable(paths: TablePaths): EdgeTable {
  let group: number | undefined;
  const rowFile = (id: string) => join(paths.installs, `${id}.json`);
  const links = createNameLinks(paths.names, paths.installs);

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
        await removeTemporary(folder);
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

    holders: links.holders,
    setHolder: links.setHolder,
    syncNames: links.sync,
  };
}

const ROW_FILE = /^([0-9a-f-]{36})\.json$/;

/** Null for a row that cannot be read: it is written again, or removed. */
function parsed(text: string): EdgeRow | null {
  try {
    return parseRow(text);
  } catch {
    return null;
  }
}
