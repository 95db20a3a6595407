import { existsSync, mkdtempSync, realpathSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { PermanentHostError } from '../../contract/errors.ts';
import { createPhpSites } from '../../runtime/wasm/create-php-sites.ts';
import { TESTS_CODE } from '../../runtime/wasm/kept-code.fixture.ts';
import { createLoopbackConnections } from '../../runtime/wasm/loopback-connections.ts';
import type { PhpSite, PhpSites } from '../../runtime/wasm/php-sites.ts';
import { type HostileDatabase, hostileDatabases } from '../hostile-databases.fixture.ts';
import { requireCopied } from './copied-database.ts';
import { copyLiveDatabase } from './database-copy.ts';
import { COPY_FOLDER, DATABASE, databaseCopyCode } from './site.ts';

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hostile-')));
const victim = join(folder, 'victim');
const all = hostileDatabases(victim);
let php: PhpSites;
let site: PhpSite;
let database: string;

beforeAll(async () => {
  site = {
    id: 'one',
    core: join(folder, 'core'),
    website: join(folder, 'one/files'),
    private: join(folder, 'one/private'),
    database: join(folder, 'one/database'),
    readOnly: {},
    prepend: '<?php ',
    limits: { memoryMb: 256, seconds: 60, uploadMb: 64, inputVars: 5_000, threads: 2 },
  };
  for (const path of [join(site.core, 'wp-includes'), join(site.core, 'wp-admin'), site.website]) {
    await mkdir(path, { recursive: true });
  }
  database = join(site.database, DATABASE);
  php = createPhpSites({
    folder: join(folder, 'runtime'),
    codeFolder: TESTS_CODE,
    roots: { writable: [folder], readable: [] },
    idleMs: 600_000,
    memoryMb: 900,
    waitMs: 110_000,
    spare: false,
    mayConnect: () => false,
    loopbacks: createLoopbackConnections(),
    loopback: () => undefined,
    deliverMail: async () => {},
    log: pino({ level: 'silent' }),
  });
  for (const path of [site.private, site.database]) await mkdir(path, { recursive: true });
});
beforeEach(() => writeFile(victim, 'kept'));
afterEach(async () => expect(await readFile(victim, 'utf8')).toBe('kept'));
afterAll(async () => {
  await php.close();
  await rm(folder, { recursive: true, force: true });
});

const ENDINGS = ['', '-wal', '-journal', '-shm'];
/** Puts a hostile database in the place of that of the website. */
async function put({ main, beside }: HostileDatabase): Promise<void> {
  for (const end of ENDINGS) await rm(database + end, { force: true });
  await writeFile(database, main);
  for (const [end, bytes] of Object.entries(beside)) await writeFile(database + end, bytes);
}

async function filesOf(path: string): Promise<Record<string, Buffer>> {
  const found: Record<string, Buffer> = {};
  for (const end of ENDINGS) if (existsSync(path + end)) found[end] = await readFile(path + end);
  return found;
}

/** Lets PHP copy the database, as a backup does. */
async function copyByPhp(): Promise<void> {
  await rm(join(site.private, COPY_FOLDER), { recursive: true, force: true });
  await mkdir(join(site.private, COPY_FOLDER));
  const code = databaseCopyCode(`${COPY_FOLDER}/${DATABASE}`);
  requireCopied(await php.run(site, { code, host: 'a.test', https: false, seconds: 60 }));
}

test.each(all)('the platform copies "$name" as it is, without SQLite', async (hostile) => {
  await put(hostile);
  const before = await filesOf(database);
  const copy = join(folder, 'copy.sqlite');
  await copyLiveDatabase(database, copy, { pause: async () => {} });
  const copied = await filesOf(copy);
  for (const end of ENDINGS) await rm(copy + end, { force: true });
  // SQLite makes the index of the log again.
  const { '-shm': _index, ...expected } = before;
  expect(copied).toEqual(expected);
  expect(await filesOf(database)).toEqual(before);
});

test.each(all)('a backup copies "$name", or says that it is damaged', async (hostile) => {
  await put(hostile);
  const copied = await copyByPhp().catch((error: unknown) => error);
  if (hostile.isReadable) expect(copied).toBeUndefined();
  else {
    expect(copied).toBeInstanceOf(PermanentHostError);
    expect(String(copied)).toMatch(
      /The database of the website is damaged: [^/]+\. Restore a backup from before the damage, without a checkpoint\.$/,
    );
  }
});

test('PHP lives, and copies the next database', async () => {
  const healthy = all.find(({ name }) => name === 'triggers that change all');
  if (healthy !== undefined) await put(healthy);
  await copyByPhp();
  const copy = new Sqlite(join(site.private, COPY_FOLDER, DATABASE));
  expect(copy.prepare('select count(*) from posts').pluck().get()).toBe(300);
  copy.close();
});
