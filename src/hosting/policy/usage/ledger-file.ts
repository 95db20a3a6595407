import { renameSync, rmSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import type { Logger } from 'pino';
import { codeOf, hasCode } from '../../../lib/error-code.ts';
import type { InstallDay, UsageCursor, UsagePage } from '../../contract/usage.ts';

/** A day of an install as it is stored. `sketch`: the visitors of an open day. */
export interface StoredDay extends InstallDay {
  sketch: Buffer | null;
}

/** Makes the hashes of a day's visitors. */
export interface DaySalt {
  day: string;
  salt: Buffer;
}

/** The ledger's file. */
export interface LedgerFile {
  /** The salts of the days that are still counted. */
  salts(): DaySalt[];
  find(installId: string, day: string): StoredDay | undefined;
  /**
   * Stores totals, gives each a new revision, and stores the salts of their days and how far the logs are counted. All or nothing. A
   * position of null is forgotten.
   */
  write(days: StoredDay[], salts: DaySalt[], positions: ReadonlyMap<string, number | null>): void;
  /** The bytes of a log that are counted. */
  position(logName: string): number;
  /** Destroys the salt and the sketches of a day, and a damaged file, which may have them, too. Its totals stay. */
  closeDay(day: string): void;
  deleteBefore(day: string): void;
  read(since: UsageCursor | null, limit: number): UsagePage;
  close(): void;
}

const SCHEMA = `
create table if not exists ledger (one integer primary key check (one = 1), id text not null, revision integer not null);
create table if not exists salts (day text primary key, salt blob not null) without rowid;
create table if not exists days (
  install text not null, day text not null,
  requests integer not null, bytes integer not null, visits integer not null,
  sketch blob, revision integer not null,
  primary key (install, day)
);
create table if not exists positions (log text primary key, bytes integer not null) without rowid;
create unique index if not exists days_revision on days (revision);
create index if not exists days_day on days (day);
`;

/** Columns of `days` that files of earlier versions lack. */
const PAGE_COLUMNS = ['page_requests', 'page_hits', 'page_ms'];

/** A ledger whose content is damaged. */
class DamagedLedgerError extends Error {
  override name = 'DamagedLedgerError';
}

/**
 * Opens or creates the file, readable by its owner only. A damaged file is moved aside and replaced. Throws if the file cannot be
 * opened or written for another reason, such as a full disk: then it is left as it is.
 */
export function openLedgerFile(file: string, newId: () => string, log: Logger): LedgerFile {
  try {
    return open(file, newId);
  } catch (err) {
    if (!isDamage(err)) throw err;
    const aside = damagedOf(file);
    for (const suffix of SUFFIXES) moveIfThere(`${file}${suffix}`, `${aside}${suffix}`);
    log.error(
      { err, file, aside },
      'the usage ledger is damaged; it was moved aside and replaced, and counts that were not collected are missing',
    );
    return open(file, newId);
  }
}

/** Where a damaged ledger stays until the end of the day. */
const damagedOf = (file: string) => `${file}.damaged`;
const SUFFIXES = ['', '-wal', '-shm'];

function isDamage(error: unknown): boolean {
  if (error instanceof DamagedLedgerError) return true;
  const code = codeOf(error);
  return code === 'SQLITE_NOTADB' || code?.startsWith('SQLITE_CORRUPT') === true;
}

/** Replaces an earlier damaged file, so that such files do not fill the disk. */
function moveIfThere(from: string, to: string): void {
  rmSync(to, { force: true });
  try {
    renameSync(from, to);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error;
  }
}

function open(file: string, newId: () => string): LedgerFile {
  const database = new Sqlite(file);
  try {
    return prepare(database, newId);
  } catch (error) {
    database.close();
    throw error;
  }
}

interface DayRow {
  install: string;
  day: string;
  requests: number;
  bytes: number;
  visits: number;
  sketch: Buffer | null;
  revision: number;
  page_requests: number;
  page_hits: number;
  page_ms: number;
}

function prepare(database: Sqlite.Database, newId: () => string): LedgerFile {
  // A power cut may lose the last seconds. Deleted salts are overwritten.
  for (const setting of ['journal_mode = WAL', 'synchronous = NORMAL', 'secure_delete = ON']) {
    database.pragma(setting);
  }
  // Opening reads few pages, so that damage would show at each write only.
  const damage: unknown = database.pragma('quick_check(1)', { simple: true });
  if (damage !== 'ok') throw new DamagedLedgerError(String(damage));
  database.exec(SCHEMA);
  const columns = database.prepare<[], { name: string }>("select name from pragma_table_info('days')").all();
  for (const column of PAGE_COLUMNS) {
    if (columns.some(({ name }) => name === column)) continue;
    database.exec(`alter table days add column ${column} integer not null default 0`);
  }
  database.prepare('insert or ignore into ledger values (1, ?, 0)').run(newId());
  const head = database.prepare<[], { id: string; revision: number }>('select id, revision from ledger');
  const advance = database.prepare('update ledger set revision = ?');
  const put = database.prepare(
    `insert or replace into days (install, day, requests, bytes, visits, sketch, revision, ${PAGE_COLUMNS.join(', ')})
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const changed = database.prepare<[number, number], DayRow>(
    'select * from days where revision > ? order by revision limit ?',
  );
  const one = database.prepare<[string, string], DayRow>('select * from days where install = ? and day = ?');

  const putSalt = database.prepare('insert or ignore into salts values (?, ?)');
  const putPosition = database.prepare('insert or replace into positions values (?, ?)');
  const forgetPosition = database.prepare('delete from positions where log = ?');
  const positionOf = database.prepare<[string], { bytes: number }>(
    'select bytes from positions where log = ?',
  );

  function ledger(): { id: string; revision: number } {
    const row = head.get();
    if (row === undefined) throw new Error('the usage ledger has no id');
    return row;
  }

  return {
    salts: () => database.prepare<[], DaySalt>('select day, salt from salts order by day').all(),
    find(installId, day) {
      const row = one.get(installId, day);
      return row && { ...dayOf(row), sketch: row.sketch };
    },
    position: (logName) => positionOf.get(logName)?.bytes ?? 0,
    write: database.transaction<LedgerFile['write']>((days, salts, positions) => {
      for (const { day, salt } of salts) putSalt.run(day, salt);
      for (const [logName, bytes] of positions) {
        if (bytes === null) forgetPosition.run(logName);
        else putPosition.run(logName, bytes);
      }
      let { revision } = ledger();
      for (const { installId, day, requests, bytes, visits, sketch, pages } of days) {
        revision += 1;
        const counts = [pages?.requests ?? 0, pages?.hits ?? 0, pages?.milliseconds ?? 0];
        put.run(installId, day, requests, bytes, visits, sketch, revision, ...counts);
      }
      advance.run(revision);
    }),
    closeDay(day) {
      database.prepare('delete from salts where day = ?').run(day);
      database.prepare('update days set sketch = null where day = ? and sketch is not null').run(day);
      // The write-ahead log still holds the salt.
      database.pragma('wal_checkpoint(TRUNCATE)');
      for (const suffix of SUFFIXES) rmSync(`${damagedOf(database.name)}${suffix}`, { force: true });
    },
    deleteBefore(day) {
      database.prepare('delete from days where day < ?').run(day);
    },
    read(since, limit) {
      const { id, revision } = ledger();
      const after = since?.ledger === id ? since.revision : 0;
      const rows = changed.all(after, limit + 1);
      const page = rows.slice(0, limit);
      return {
        ledger: id,
        revision: page.at(-1)?.revision ?? Math.min(after, revision),
        days: page.map(dayOf),
        more: rows.length > limit,
      };
    },
    close() {
      database.close();
    },
  };
}

function dayOf({ install, day, requests, bytes, visits, ...row }: DayRow): InstallDay {
  const pages = { requests: row.page_requests, hits: row.page_hits, milliseconds: row.page_ms };
  return { installId: install, day, requests, bytes, visits, ...(pages.requests > 0 && { pages }) };
}
