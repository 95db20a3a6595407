import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';

/** The files of a database of SQLite that a website could have. */
export interface HostileDatabase {
  name: string;
  main: Buffer;
  /** By their endings: `-wal`, `-journal`, `-shm`. */
  beside: Record<string, Buffer>;
  /** Whether SQLite can copy it all the same. */
  isReadable: boolean;
}

const PAGE = 4096;
/** Offsets in the header of a database (https://www.sqlite.org/fileformat.html, 1.3). */
const HEADER = { pageSize: 16, fileChange: 24, pages: 28, freeTrunk: 32, freePages: 36, validFor: 92 };
/** First bytes of a rollback journal that is hot (same document, 3). */
const JOURNAL_MAGIC = Buffer.from([0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]);

/**
 * Databases that are damaged, or made to harm the program that opens them. `victim`: the path of a file that a journal names as its
 * super-journal. SQLite may delete it after a rollback.
 */
export function hostileDatabases(victim: string): HostileDatabase[] {
  const healthy = build();
  const changed = (change: (bytes: Buffer) => void): Buffer => {
    const bytes = Buffer.from(healthy);
    change(bytes);
    return bytes;
  };
  const one = (
    name: string,
    main: Buffer,
    { isReadable = false, ...beside }: Record<string, Buffer | boolean> = {},
  ): HostileDatabase => ({
    name,
    main,
    beside: Object.fromEntries(
      Object.entries(beside).flatMap(([end, bytes]) => (Buffer.isBuffer(bytes) ? [[`-${end}`, bytes]] : [])),
    ),
    isReadable: isReadable === true,
  });
  return [
    one('empty', Buffer.alloc(0), { isReadable: true }),
    one('header alone', healthy.subarray(0, 16)),
    one('no database', randomBytes(3 * PAGE)),
    one('truncated', healthy.subarray(0, PAGE + 100)),
    one(
      'page size of 3',
      changed((bytes) => bytes.writeUInt16BE(3, HEADER.pageSize)),
    ),
    one(
      'page size of 65536',
      changed((bytes) => bytes.writeUInt16BE(1, HEADER.pageSize)),
    ),
    one(
      'huge page count',
      changed((bytes) => {
        bytes.writeUInt32BE(0xff_ff_ff_fe, HEADER.pages);
        bytes.writeUInt32BE(bytes.readUInt32BE(HEADER.fileChange), HEADER.validFor);
      }),
      { isReadable: true },
    ),
    one(
      'free list that leads to itself',
      changed((bytes) => {
        bytes.writeUInt32BE(2, HEADER.freeTrunk);
        bytes.writeUInt32BE(1_000_000, HEADER.freePages);
      }),
      { isReadable: true },
    ),
    // An interior page of a table whose only child is the page itself.
    one(
      'tree that leads to itself',
      changed((bytes) => {
        bytes.fill(0, PAGE, 2 * PAGE);
        bytes.writeUInt8(0x05, PAGE);
        bytes.writeUInt32BE(2, PAGE + 8);
      }),
    ),
    one(
      'random pages',
      changed((bytes) => randomBytes(bytes.length - PAGE).copy(bytes, PAGE)),
    ),
    one(
      'malformed schema',
      build((database) => writeSchema(database, 'create table posts (((', 'posts')),
    ),
    one(
      'virtual table of an unknown module',
      build((database) => addSchema(database, 'evil', 'create virtual table evil using missing(x)', 0)),
      { isReadable: true },
    ),
    one(
      'view that loads a library in place of the table',
      build((database) => {
        database.exec('drop table posts');
        database.exec("create view posts as select load_extension('/tmp/evil.so') as title");
      }),
      { isReadable: true },
    ),
    one(
      'views without end',
      build((database) => {
        database.exec('create view v0 as select title from posts');
        for (let n = 1; n <= 12; n++) {
          database.exec(`create view v${n} as select a.title from v${n - 1} a, v${n - 1} b`);
        }
      }),
      { isReadable: true },
    ),
    one(
      'triggers that change all',
      build((database) =>
        database.exec(
          'create trigger t after insert on posts begin delete from posts; insert into posts values (null, new.title); end',
        ),
      ),
      { isReadable: true },
    ),
    one(
      'index on a function of a trusted schema',
      build((database) =>
        writeSchema(database, 'create index by_title on posts (load_extension(title))', 'by_title'),
      ),
    ),
    one('log of another database', buildWal().main, { wal: buildWal().wal, isReadable: true }),
    one('random log', buildWal().main, { wal: randomBytes(5 * PAGE), isReadable: true }),
    one('log without a database', Buffer.alloc(0), { wal: buildWal().wal, isReadable: true }),
    one('random index of the log', buildWal().main, {
      wal: buildWal().wal,
      shm: randomBytes(32_768),
      isReadable: true,
    }),
    one('random journal', healthy, { journal: randomBytes(3 * PAGE), isReadable: true }),
    one('journal that names another file', healthy, {
      journal: journalNaming(victim, healthy.length / PAGE),
      isReadable: true,
    }),
  ];
}

/** A database with the table `posts`, in rollback mode. */
function build(change: (database: Sqlite.Database) => void = () => {}): Buffer {
  return inFolder((path) => {
    const database = new Sqlite(path);
    database.pragma(`page_size = ${PAGE}`);
    database.pragma('synchronous = off');
    database.exec('create table posts (id integer primary key, title text)');
    database.exec('create index by_title on posts (title)');
    const add = database.prepare('insert into posts (title) values (?)');
    database.transaction(() => {
      for (let n = 0; n < 300; n++) add.run(`post ${n} ${'x'.repeat(100)}`);
    })();
    change(database);
    database.close();
    return readFileSync(path);
  });
}

/** A database in WAL mode, and its log with one more row. */
function buildWal(): { main: Buffer; wal: Buffer } {
  return inFolder((path) => {
    writeFileSync(path, build());
    const database = new Sqlite(path);
    database.pragma('journal_mode = wal');
    database.exec("insert into posts (title) values ('in the log')");
    const files = { main: readFileSync(path), wal: readFileSync(`${path}-wal`) };
    database.close();
    return files;
  });
}

function inFolder<Result>(work: (path: string) => Result): Result {
  const folder = mkdtempSync(join(tmpdir(), 'hostile-'));
  try {
    return work(join(folder, 'a.sqlite'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function writeSchema(database: Sqlite.Database, text: string, name: string): void {
  database.unsafeMode();
  database.pragma('writable_schema = on');
  database.prepare('update sqlite_master set sql = ? where name = ?').run(text, name);
}

function addSchema(database: Sqlite.Database, name: string, text: string, rootPage: number): void {
  database.unsafeMode();
  database.pragma('writable_schema = on');
  database.prepare("insert into sqlite_master values ('table', ?, ?, ?, ?)").run(name, name, rootPage, text);
}

/** A hot journal without pages, whose last part names a super-journal. */
function journalNaming(file: string, pages: number): Buffer {
  const head = Buffer.alloc(512);
  JOURNAL_MAGIC.copy(head);
  head.writeUInt32BE(pages, 16);
  head.writeUInt32BE(512, 20);
  head.writeUInt32BE(PAGE, 24);
  const name = Buffer.from(file);
  const tail = Buffer.alloc(4 + name.length + 8);
  // The page number of the lock byte, which no page of data has.
  tail.writeUInt32BE(0x40_00_00_00 / PAGE + 1, 0);
  name.copy(tail, 4);
  tail.writeUInt32BE(name.length, 4 + name.length);
  tail.writeUInt32BE(
    name.reduce((sum, byte) => sum + byte, 0),
    8 + name.length,
  );
  return Buffer.concat([head, tail, JOURNAL_MAGIC]);
}
