import { randomUUID } from 'node:crypto';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { LEAST_FREE_BYTES } from '../../lib/free-space.ts';
import { watchingFreeSpace } from '../../lib/watching-free-space.ts';
import { LostBackupError, PermanentHostError } from '../contract/errors.ts';
import type { InstallRef } from '../contract/install-ref.ts';
import type { Programs } from '../runtime/runtime.ts';
import { OWN_PREFIX } from '../runtime/wasm/abandoned-entries.ts';
import { answersFrom, type BackupContents } from '../websites/backup-contents/backup-browser.ts';
import { createBackupIndexes, type IndexBackup } from '../websites/backup-contents/backup-indexes.ts';
import type { IndexedEntry } from '../websites/backup-contents/contents-file.ts';
import { type Layout, type WebsiteFolders, websiteIn } from './host-folder/layout.ts';
import { removeTree } from './snapshots/archive-exchange.ts';
import type { Snapshots } from './snapshots/snapshots.ts';
import { listTables } from './wordpress/database-tables.ts';
import { COPY_FOLDER, DATABASE, PRIVATE } from './wordpress/site.ts';

/** The copy of the database in a snapshot. */
const DATABASE_FILE = `${PRIVATE}/${COPY_FOLDER}/${DATABASE}`;
/** Of all indexes. */
const MOST_BYTES = 256 * 1024 ** 2;

export interface BackupTablesOptions {
  layout: Pick<Layout, 'making' | 'tableIndexes'>;
  snapshots: Pick<Snapshots, 'extract' | 'index'>;
  /** Runs work with the PHP of an install's WordPress in other folders. */
  inFolders<Result>(
    install: InstallRef,
    folders: WebsiteFolders,
    work: (programs: Programs) => Promise<Result>,
  ): Promise<Result>;
  log: Logger;
}

/** The tables of backups, from an index of its own: files can be browsed without PHP, and if the database of a backup cannot be read. */
export function createBackupTables(
  options: BackupTablesOptions,
): Pick<BackupContents, 'forget' | 'listBackupTables' | 'removeAll'> {
  const { forget, removeAll, withContents } = createBackupIndexes({
    folder: options.layout.tableIndexes,
    index: indexTables(options),
    log: options.log,
    mostBytes: MOST_BYTES,
  });
  const answer = answersFrom(withContents);
  return {
    listBackupTables: (install, backupId, page) =>
      answer(install, backupId, async (contents) => contents.tables(page)),
    forget,
    removeAll,
  };
}

/** Lists the tables of a backup in an index, with PHP of a process that sees the database of the backup alone. */
function indexTables({ layout, snapshots, inFolders }: BackupTablesOptions): IndexBackup {
  async function withDatabase<Result>(
    install: InstallRef,
    backupId: string,
    entry: IndexedEntry,
    signal: AbortSignal,
    work: (folders: WebsiteFolders, limited: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const folder = join(layout.making, `${OWN_PREFIX}${randomUUID()}`);
    const folders = websiteIn(folder);
    try {
      await mkdir(join(folders.files, PRIVATE), { recursive: true, mode: 0o700 });
      await mkdir(folders.database, { recursive: true, mode: 0o700 });
      return await watchingFreeSpace({ folder, least: LEAST_FREE_BYTES, full }, signal, async (limited) => {
        const file = await open(join(folders.database, DATABASE), 'wx', 0o600);
        try {
          await snapshots.extract(install, backupId, entry, async (bytes) => {
            limited.throwIfAborted();
            await file.writeFile(bytes);
          });
        } finally {
          await file.close();
        }
        return work(folders, limited);
      });
    } finally {
      await removeTree(folder);
    }
  }

  return async (install, backupId, writer, signal) => {
    const found: IndexedEntry[] = [];
    const seen = await snapshots.index(
      install,
      backupId,
      { ...writer, add: (entry) => void found.push(entry) },
      { isHidden: (path) => path !== DATABASE_FILE, signal },
    );
    for (const entry of found) {
      const tables = await withDatabase(install, backupId, entry, signal, (folders, limited) =>
        inFolders(install, folders, (programs) => listTables(programs, limited)),
      ).catch((error: unknown) => {
        if (!(error instanceof PermanentHostError)) throw error;
        throw new LostBackupError(error.message, { cause: error });
      });
      for (const table of tables) writer.addTable({ ...table, bytes: null, span: null });
    }
    return seen;
  };
}

const full = () => new Error('the disk has too little free space to read the tables of a backup');
