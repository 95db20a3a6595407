import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import Sqlite from 'better-sqlite3';
import { syncFolder } from '../../../lib/durable-file.ts';
import type { BackupEntry, BackupFolder, BackupTables, EntryPage } from '../../contract/backup-contents.ts';
import type { Snapshot } from '../../contract/snapshots.ts';
import { UNFINISHED } from './index-room.ts';

/**
 * The index of a backup: one SQLite file of this host that lists its entries and tables, and where they are in the archive. Listing a
 * folder costs the same for ten entries and for a million. It is made from a backup and can be made again, and it exists only whole:
 * a file under its final name was finished.
 *
 * Names of tenants are values in it, never SQL.
 */
const VERSION = 1;
const SCHEMA = `
  CREATE TABLE meta (version INTEGER NOT NULL, dump_place INTEGER, dump_length INTEGER, bytes INTEGER, files INTEGER, sha256 TEXT);
  CREATE TABLE folders (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
  CREATE TABLE entries (
    folder INTEGER NOT NULL, is_folder INTEGER NOT NULL, name TEXT NOT NULL, is_link INTEGER NOT NULL, bytes INTEGER,
    modified_at INTEGER, target TEXT, same_as TEXT, place INTEGER NOT NULL, length INTEGER NOT NULL,
    PRIMARY KEY (folder, is_folder DESC, name)
  ) WITHOUT ROWID;
  CREATE INDEX hard_links ON entries (place) WHERE same_as IS NOT NULL;
  CREATE TABLE tables (name TEXT PRIMARY KEY, bytes INTEGER, row_count INTEGER, place INTEGER, length INTEGER) WITHOUT ROWID;
  CREATE TABLE chunks (start INTEGER PRIMARY KEY, id TEXT NOT NULL);`;

/** A part of an archive, in the unit of the archive: bytes, or the number of an entry. */
export interface Span {
  place: number;
  length: number;
}

export interface IndexedEntry extends Span, Omit<BackupEntry, 'name'> {
  /** As in the archive, without a slash at its ends. */
  path: string;
  /** The earlier entry that has the content of this hard link. */
  sameAs?: string | undefined;
}

/** A table, and its part of the dump if it has one. */
export interface IndexedTable {
  name: string;
  bytes: number | null;
  rows: number | null;
  span: Span | null;
}

/** A piece that the archive is stored in, from `start` to the start of the next one. */
export interface Chunk {
  start: number;
  id: string;
}

export interface ContentsWriter {
  /** The last entry of a path counts. */
  add(entry: IndexedEntry): void;
  addTable(table: IndexedTable): void;
  /** Where the dump of the database is. */
  noteDump(span: Span): void;
  addChunk(chunk: Chunk): void;
  /** Makes the index durable, and visible under its name. */
  finish(snapshot: Snapshot): Promise<void>;
  /** Removes what is not finished; harmless after `finish`. */
  discard(): Promise<void>;
}

/** Rows until the database writes them. */
const BATCH = 20_000;

export async function writeContents(file: string): Promise<ContentsWriter> {
  // The same index can be made twice at a time.
  const part = `${file}.${randomUUID()}${UNFINISHED}`;
  const database = new Sqlite(part);
  database.pragma('journal_mode = OFF');
  database.pragma('synchronous = OFF');
  database.exec(SCHEMA);
  const insertFolder = database.prepare('INSERT INTO folders (path) VALUES (?)');
  const findFolder = database.prepare('SELECT id FROM folders WHERE path = ?').pluck();
  const deleteEntry = database.prepare(
    'DELETE FROM entries WHERE folder = ? AND is_folder IN (0, 1) AND name = ?',
  );
  const findBytes = database
    .prepare('SELECT bytes FROM entries WHERE folder = ? AND is_folder = 0 AND name = ?')
    .pluck();
  const insertEntry = database.prepare('INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
  const insertTable = database.prepare('INSERT OR REPLACE INTO tables VALUES (?, ?, ?, ?, ?)');
  const insertChunk = database.prepare('INSERT INTO chunks VALUES (?, ?)');
  let last: { path: string; id: number | bigint } | null = null;
  let pending = 0;
  let dump: Span | null = null;
  database.exec('BEGIN');

  function folderOf(path: string): number | bigint {
    // Archives go folder by folder.
    if (last?.path === path) return last.id;
    const found = findFolder.get(path);
    const id = typeof found === 'number' ? found : insertFolder.run(path).lastInsertRowid;
    last = { path, id };
    return id;
  }

  /** A hard link itself says nothing of its size. */
  function bytesOf(path: string): number | null {
    const { folder, name } = splitPath(path);
    const found = findBytes.get(folderOf(folder), name);
    return typeof found === 'number' ? found : null;
  }

  function inBatches(): void {
    pending += 1;
    if (pending % BATCH === 0) database.exec('COMMIT; BEGIN');
  }

  return {
    add({ path, type, bytes, modifiedAt, target, sameAs = null, place, length }) {
      const { folder, name } = splitPath(path);
      const id = folderOf(folder);
      deleteEntry.run(id, name);
      const size = sameAs === null ? bytes : bytesOf(sameAs);
      const [isFolder, isLink] = [type === 'folder' ? 1 : 0, type === 'link' ? 1 : 0];
      insertEntry.run(id, isFolder, name, isLink, size, modifiedAt, target, sameAs, place, length);
      inBatches();
    },
    addTable({ name, bytes, rows, span }) {
      insertTable.run(name, bytes, rows, span?.place ?? null, span?.length ?? null);
      inBatches();
    },
    noteDump(span) {
      dump = span;
    },
    addChunk({ start, id }) {
      insertChunk.run(start, id);
      inBatches();
    },
    async finish({ bytes, files, sha256 }) {
      database
        .prepare('INSERT INTO meta VALUES (?, ?, ?, ?, ?, ?)')
        .run(VERSION, dump?.place ?? null, dump?.length ?? null, bytes, files, sha256);
      database.exec('COMMIT');
      database.close();
      const written = await open(part, 'r');
      await written.sync().finally(() => written.close());
      await rename(part, file);
      await syncFolder(dirname(file));
    },
    async discard() {
      if (database.open) database.close();
      await rm(part, { force: true });
    },
  };
}

export interface Contents {
  /** Null if the backup has no such folder. */
  list(folder: string, page: EntryPage): BackupFolder | null;
  find(path: string): IndexedEntry | null;
  /** The span of an entry in the archive; for a folder, from its first entry to the last. */
  spanOf(entry: IndexedEntry): Span;
  /** Entries with the content of hard links in a span. */
  sourcesIn(span: Span): string[];
  tables(page: EntryPage): BackupTables;
  findTable(name: string): IndexedTable | null;
  /** The totals of the backup. */
  summary(): Snapshot;
  /** The dump of the database, and its part before the first table; null without a dump. */
  dump(): { whole: Span; preamble: Span } | null;
  /** The pieces that a span is stored in, in order, with the end of the last one; empty if they are unknown. */
  chunksOf(span: Span): Chunk[];
  close(): void;
}

type Row = Record<string, unknown>;

/** Whether an index cannot be read any further, although it could be opened. */
export const isDamagedIndex = (error: unknown): boolean =>
  error instanceof Sqlite.SqliteError && /^SQLITE_(?:CORRUPT|NOTADB)/.test(error.code);

/** Opens a finished index. Throws if it is missing or cannot be read. */
export function openContents(file: string): Contents {
  const database = new Sqlite(file, { readonly: true, fileMustExist: true });
  try {
    const version = database.prepare('SELECT version FROM meta').pluck().get();
    if (version !== VERSION) throw new Error(`the index has version ${String(version)}`);
  } catch (error) {
    database.close();
    throw error;
  }

  const rows = (sql: string, ...values: (string | number)[]): Row[] =>
    database.prepare<(string | number)[], Row>(sql).all(...values);

  function find(path: string): IndexedEntry | null {
    const { folder, name } = splitPath(path);
    const [row] = rows(
      `SELECT entries.* FROM entries JOIN folders ON folders.id = entries.folder
        WHERE folders.path = ? AND entries.is_folder IN (0, 1) AND entries.name = ?`,
      folder,
      name,
    );
    if (row === undefined) return null;
    const sameAs = textOf(row.same_as);
    return {
      path,
      ...entryOf(row),
      place: numberOf(row.place) ?? 0,
      length: numberOf(row.length) ?? 0,
      ...(sameAs === null ? {} : { sameAs }),
    };
  }

  return {
    find,

    list(folder, { offset, limit }) {
      if (folder !== '' && find(folder)?.type !== 'folder') return null;
      const [{ id = null } = {}] = rows('SELECT id FROM folders WHERE path = ?', folder);
      const folderId = numberOf(id) ?? -1;
      const [{ count = 0 } = {}] = rows('SELECT count(*) AS count FROM entries WHERE folder = ?', folderId);
      const found = rows(
        'SELECT * FROM entries WHERE folder = ? ORDER BY is_folder DESC, name LIMIT ? OFFSET ?',
        folderId,
        limit,
        offset,
      );
      return {
        count: numberOf(count) ?? 0,
        entries: found.map((row) => ({ name: textOf(row.name) ?? '', ...entryOf(row) })),
      };
    },

    spanOf({ path, type, place, length }) {
      if (type !== 'folder') return { place, length };
      // '0' is the character after '/'.
      const [{ last = null } = {}] = rows(
        `SELECT max(place + length) AS last FROM entries WHERE folder IN
          (SELECT id FROM folders WHERE path = ? OR (path > ? AND path < ?))`,
        path,
        `${path}/`,
        `${path}0`,
      );
      return { place, length: Math.max(length, (numberOf(last) ?? 0) - place) };
    },

    sourcesIn: ({ place, length }) =>
      rows(
        'SELECT DISTINCT same_as FROM entries WHERE same_as IS NOT NULL AND place >= ? AND place < ?',
        place,
        place + length,
      ).flatMap((row) => textOf(row.same_as) ?? []),

    tables({ offset, limit }) {
      const [{ count = 0 } = {}] = rows('SELECT count(*) AS count FROM tables');
      const found = rows('SELECT * FROM tables ORDER BY name LIMIT ? OFFSET ?', limit, offset);
      return {
        count: numberOf(count) ?? 0,
        tables: found.map(tableOf).map(({ name, bytes, rows }) => ({ name, bytes, rows })),
      };
    },

    findTable(name) {
      const [row] = rows('SELECT * FROM tables WHERE name = ?', name);
      return row === undefined ? null : tableOf(row);
    },

    summary() {
      const [row = {}] = rows('SELECT bytes, files, sha256 FROM meta');
      return {
        bytes: numberOf(row.bytes) ?? 0,
        files: numberOf(row.files) ?? 0,
        sha256: textOf(row.sha256) ?? '',
      };
    },

    dump() {
      const [row = {}] = rows(
        'SELECT dump_place, dump_length, (SELECT min(place) FROM tables) AS first FROM meta',
      );
      const [place, length] = [numberOf(row.dump_place), numberOf(row.dump_length)];
      if (place === null || length === null) return null;
      const first = numberOf(row.first) ?? place + length;
      return { whole: { place, length }, preamble: { place, length: first - place } };
    },

    chunksOf: ({ place, length }) =>
      rows(
        `SELECT start, id FROM chunks WHERE start < ?
          AND start >= coalesce((SELECT max(start) FROM chunks WHERE start <= ?), 0) ORDER BY start`,
        place + length,
        place,
      ).map((row) => ({ start: numberOf(row.start) ?? 0, id: textOf(row.id) ?? '' })),

    close: () => void database.close(),
  };
}

function entryOf(row: Row): Omit<BackupEntry, 'name'> {
  return {
    type: row.is_folder === 1 ? 'folder' : row.is_link === 1 ? 'link' : 'file',
    bytes: numberOf(row.bytes),
    modifiedAt: numberOf(row.modified_at),
    target: textOf(row.target),
  };
}

function tableOf(row: Row): IndexedTable {
  const [place, length] = [numberOf(row.place), numberOf(row.length)];
  return {
    name: textOf(row.name) ?? '',
    bytes: numberOf(row.bytes),
    rows: numberOf(row.row_count),
    span: place === null || length === null ? null : { place, length },
  };
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export function splitPath(path: string): { folder: string; name: string } {
  const slash = path.lastIndexOf('/');
  return { folder: path.slice(0, Math.max(0, slash)), name: path.slice(slash + 1) };
}
