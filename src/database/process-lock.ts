import { existsSync } from 'node:fs';
import Sqlite from 'better-sqlite3';

/** Other processes that only test the lock have released it by then. Nothing else runs in this process meanwhile. */
const LOOKS_MS = 500;

/**
 * Locks a file until this process releases it or ends in any way. This is SQLite's file lock, which the kernel releases. Creates the file
 * if missing; it stays empty. Null: another process holds the lock. Throws SqliteError if the file cannot be used.
 */
export function lockForProcess(
  file: string,
  { looksMs = LOOKS_MS }: { looksMs?: number } = {},
): { release(): void } | null {
  const connection = new Sqlite(file, { timeout: looksMs });
  try {
    connection.exec('begin exclusive');
  } catch (error) {
    connection.close();
    if (isBusy(error)) return null;
    throw error;
  }
  return { release: () => connection.close() };
}

/** Whether a process holds the lock now. Changes nothing. */
export function isLocked(file: string): boolean {
  if (!existsSync(file)) return false;
  let connection: Sqlite.Database | undefined;
  try {
    connection = new Sqlite(file, { readonly: true, timeout: 0 });
    connection.prepare('select count(*) from sqlite_schema').get();
    return false;
  } catch (error) {
    return isBusy(error);
  } finally {
    connection?.close();
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Sqlite.SqliteError && error.code === 'SQLITE_BUSY';
}
