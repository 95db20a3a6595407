import type Sqlite from 'better-sqlite3';
import { serializeByKey } from '../lib/concurrency.ts';
import type { Queries } from './database.ts';

/** A connection for reading only. */
interface SnapshotConnection {
  connection: Sqlite.Database;
  queries: Queries;
}

/**
 * Read transactions on a separate connection, because other reads must see each commit at once. They run one at a time, which costs
 * nothing: SQLite reads in this thread. The first one calls `open`.
 */
export function createSnapshots(open: () => SnapshotConnection) {
  const serially = serializeByKey();
  let opened: SnapshotConnection | undefined;

  async function inTransaction<Result>(work: (reader: Queries) => Promise<Result>): Promise<Result> {
    opened ??= open();
    const { connection, queries } = opened;
    connection.exec('begin');
    try {
      return await work(queries);
    } finally {
      connection.exec('commit');
    }
  }

  return {
    /** See Database.snapshot. */
    read: <Result>(work: (reader: Queries) => Promise<Result>): Promise<Result> =>
      serially('snapshot', () => inTransaction(work)),

    /** Closes the connection after the reads in progress. */
    close: (): Promise<void> =>
      serially('snapshot', async () => {
        opened?.connection.close();
      }),
  };
}
