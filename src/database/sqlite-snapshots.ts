import type Sqlite from 'better-sqlite3';
import { serializeByKey } from '../lib/concurrency.ts';
import type { Queries } from './database.ts';
import type { WriteAheadLog } from './sqlite-wal.ts';

/** A connection for reading only. */
interface SnapshotConnection {
  connection: Sqlite.Database;
  /** The queries of one transaction. */
  begin(): { queries: Queries; end(): void };
}

/**
 * Read transactions on a separate connection, because other reads must see each commit at once. They run one at a time, which costs
 * nothing: SQLite reads in this thread. The first one calls `open`. `readDurable`: of the log.
 */
export function createSnapshots(open: () => SnapshotConnection, readDurable: WriteAheadLog['read']) {
  const serially = serializeByKey();
  let opened: SnapshotConnection | undefined;

  async function inTransaction<Result>(work: (reader: Queries) => Promise<Result>): Promise<Result> {
    opened ??= open();
    const { connection, begin } = opened;
    return readDurable(async () => {
      connection.exec('begin');
      const { queries, end } = begin();
      try {
        // The first read decides which commits the transaction sees.
        connection.exec('select 1 from sqlite_schema limit 1');
        return await work(queries);
      } finally {
        end();
        connection.exec('commit');
      }
    });
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
