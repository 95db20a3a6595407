import Sqlite from 'better-sqlite3';

/**
 * Locks a file for this process, until it lets go or ends, however it ends: it is SQLite's own lock, which the kernel takes back. Makes
 * the file where there is none; it stays empty. Null: another process has the lock. Throws SqliteError if the file cannot be used.
 */
export function lockForProcess(file: string): { release(): void } | null {
  const connection = new Sqlite(file, { timeout: 0 });
  try {
    connection.exec('begin exclusive');
  } catch (error) {
    connection.close();
    if (error instanceof Sqlite.SqliteError && error.code === 'SQLITE_BUSY') return null;
    throw error;
  }
  return { release: () => connection.close() };
}
