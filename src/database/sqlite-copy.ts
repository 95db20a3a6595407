import { closeSync, openSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import type { Queries } from './database.ts';
import { sqliteQueries } from './sqlite.ts';

/** Pages copied per turn of the event loop: about 4 MB, some milliseconds. */
const PAGES = 1_000;
const OPENING_TIMEOUT_MS = 10_000;

export interface CopyOptions {
  signal?: AbortSignal | undefined;
  /** Called as the copy grows; both in pages. */
  onProgress?(done: number, total: number): void;
}

/**
 * Copies the database into the new file `to` (mode 0600), as a consistent snapshot, while others write.
 * `look` reads the same snapshot. The copy is one file without a WAL, not yet synced.
 */
export async function copySqlite<Seen>(
  file: string,
  to: string,
  look: (queries: Queries) => Promise<Seen>,
  { signal, onProgress }: CopyOptions = {},
): Promise<Seen> {
  closeSync(openSync(to, 'wx', 0o600));
  const source = new Sqlite(file, { fileMustExist: true, timeout: OPENING_TIMEOUT_MS });
  try {
    // An open read transaction keeps the snapshot. Without it, each write of another process would restart the copy.
    source.exec('begin');
    // The transaction gets its snapshot with its first read.
    source.prepare('select 1 from sqlite_schema limit 1').get();
    const seen = await look(sqliteQueries(source));
    await source.backup(to, {
      progress: ({ totalPages, remainingPages }) => {
        signal?.throwIfAborted();
        onProgress?.(totalPages - remainingPages, totalPages);
        return PAGES;
      },
    });
    withoutWal(to);
    return seen;
  } finally {
    source.close();
  }
}

/** Switches a database, which no one else has open, to a rollback journal. The header of a copy still asks for a WAL, so opening it would create one. */
export function withoutWal(copy: string): void {
  const connection = new Sqlite(copy);
  try {
    // An exclusive connection needs no shared memory file beside the copy.
    connection.pragma('locking_mode = exclusive');
    connection.pragma('journal_mode = delete');
  } finally {
    connection.close();
  }
}

/** Checks a whole database file without changing it. Null if it is intact, else the first faults in one line. */
export function faultOfSqliteFile(file: string): string | null {
  let connection: Sqlite.Database | undefined;
  try {
    connection = new Sqlite(file, { readonly: true, fileMustExist: true });
    const verdict = connection.prepare<[], string>('pragma integrity_check(3)').pluck().all();
    return verdict.length === 1 && verdict[0] === 'ok' ? null : verdict.join('; ');
  } catch (error) {
    if (error instanceof Sqlite.SqliteError) return error.message;
    throw error;
  } finally {
    connection?.close();
  }
}
