/** Writes of a user of the database server so far. Equal texts: nothing since. Null: unknown, or a transaction that is not committed yet. */
export type WritesOf = (unixUser: string) => string | null;

/** Reads what all users have written. */
export type DatabaseWrites = () => Promise<WritesOf>;

/** MariaDB shows open transactions from a cache that it renews after 100 ms without a reader (trx0i_s.cc). */
const CACHE_SECONDS = 0.15;
/** The counters of a user who has done nothing yet, whom the statistics leave out. */
const NOTHING = '0,0,0,0';

/**
 * MariaDB's user statistics. `UPDATE_COMMANDS` counts statements that change anything, definitions too, and the rows also count what
 * procedures and triggers change. A server that was started again counts from 0, so its start belongs to the text. The server counts once
 * it was told to, which costs next to nothing.
 */
const STATEMENTS = `
SELECT 'counts', @@GLOBAL.userstat;
SET GLOBAL userstat = 1;
SELECT 'started', UNIX_TIMESTAMP() - VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME = 'UPTIME';
SELECT 'user', USER, UPDATE_COMMANDS, ROWS_INSERTED, ROWS_UPDATED, ROWS_DELETED FROM information_schema.USER_STATISTICS;
DO SLEEP(${CACHE_SECONDS});
SELECT DISTINCT 'open', process.USER FROM information_schema.INNODB_TRX AS open
  JOIN information_schema.PROCESSLIST AS process ON process.ID = open.TRX_MYSQL_THREAD_ID WHERE open.TRX_ROWS_MODIFIED > 0;
`;

/** `asRoot` runs statements and returns the rows of all results. */
export function createDatabaseWrites(asRoot: (statements: string) => Promise<string[][]>): DatabaseWrites {
  /** The start of the server, as first computed: it varies by a second. */
  let started = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function read(): Promise<WritesOf> {
    const rows = await asRoot(STATEMENTS);
    const of = (kind: string) => rows.filter(([first]) => first === kind).map(([, ...values]) => values);
    const [[counts] = []] = of('counts');
    const [[since] = []] = of('started');
    if (Math.abs(Number(since) - started) > 1) started = Math.round(Number(since));
    const counters = new Map(of('user').map(([user = '', ...values]) => [user, values.join(',')]));
    const open = new Set(of('open').map(([user]) => user));
    return (unixUser) =>
      counts !== '1' || open.has(unixUser) ? null : `${started}:${counters.get(unixUser) ?? NOTHING}`;
  }

  return () => {
    // One after the other, so that each sees the open transactions of its own time.
    const reading = last.then(read, read);
    last = reading.catch(() => {});
    return reading;
  };
}
