import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { openDatabase } from '../../src/database/open.ts';
import { isLocked } from '../../src/database/process-lock.ts';
import { HOUR_MS } from '../../src/lib/durations.ts';
import { type Client, createAgent, createClient, text } from '../client.ts';
import { type DatabasePlace, databasePlace, silent } from '../database.ts';
import { onlyInLong } from '../rounds.ts';
import { call, callJson } from './call-homeport.ts';
import { begin, type Environment, environmentFor, type Running, serve } from './run-homeport.ts';

const CREDENTIAL = { username: '2f0a5c0e-7c1d-4b57-8f5e-0a4a86b3f6d1', password: 'a password of the tests' };

let place: DatabasePlace;
let environment: Environment;
let server: Running;
let client: Client;
let agent: ReturnType<typeof createAgent>;
let install: string;
let backup: string;
/** What the website was when it was backed up. */
let original: Record<string, string>;

const cli = (...words: string[]) => call(environment, ...words);
const files = (of = install) => join(place.settings.dataDir, 'host', 'installs', of, 'files');

/** Every file of the website, by its path, as the hash of its bytes. */
function website(of = install): Record<string, string> {
  const entries = readdirSync(files(of), { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [
        path.slice(files(of).length),
        createHash('sha256').update(readFileSync(path)).digest('hex'),
      ]),
  );
}

/** Changes, deletes and adds. */
function deface(): Record<string, string> {
  writeFileSync(join(files(), 'index.html'), 'defaced');
  rmSync(join(files(), 'uploads'), { recursive: true, force: true });
  writeFileSync(join(files(), 'added.html'), 'added');
  return website();
}

async function until<Result>(
  look: () => Promise<Result>,
  holds: (result: Result) => boolean,
): Promise<Result> {
  for (const end = Date.now() + 20_000; ; ) {
    const result = await look();
    if (holds(result)) return result;
    if (Date.now() > end) throw new Error(`still ${JSON.stringify(result)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const soon = () => new Date(Date.now() + HOUR_MS).toISOString();

/** Holds up all jobs of the install: adds one before them that waits for an hour. Returns its id. */
async function holdUp(database: Database): Promise<string> {
  const id = crypto.randomUUID();
  await database.write(async ({ queries }) => {
    await queries
      .insertInto('jobs')
      .values({
        id,
        kind: 'apply_install',
        lane: install,
        payload: '{}',
        max_attempts: 1,
        run_at: soon(),
        request_id: null,
        created_at: new Date().toISOString(),
        lease_until: null,
        worker_id: null,
        error: null,
        started_at: null,
        finished_at: null,
      })
      .execute();
  });
  return id;
}

/** Lets the jobs that {@link holdUp} holds up go on. */
async function goOn(database: Database, id: string): Promise<void> {
  await database.write(({ queries }) => queries.deleteFrom('jobs').where('id', '=', id).execute());
}

beforeAll(async () => {
  place = await databasePlace();
  environment = await environmentFor(place, {
    HOMEPORT_INITIAL_CREDENTIAL: `${CREDENTIAL.username}:${CREDENTIAL.password}`,
  });
  server = await serve(environment);
  agent = createAgent(readFileSync(join(place.settings.dataDir, 'tls', 'api.crt'), 'utf8'));
  client = createClient(
    { origin: environment.HOMEPORT_PUBLIC_URL ?? '', agent, conformance: () => undefined },
    CREDENTIAL,
  );
  const account_id = text((await client.get('/accounts')).body, 'results', 0, 'id');
  install = text((await client.post('/installs', { name: 'restored', account_id })).body, 'id');
  await until(
    () => client.get(`/installs/${install}`),
    ({ body }) => text(body, 'status') === 'active',
  );
  mkdirSync(join(files(), 'uploads', '2026'), { recursive: true });
  writeFileSync(join(files(), 'uploads', '2026', 'photo.bin'), randomBytes(300_000));
  writeFileSync(join(files(), 'uploads', 'empty'), '');
  original = website();
  const requested = {
    description: 'before \u001b[31mthe launch',
    notification_emails: ['ops@agency.example'],
  };
  backup = text((await client.post(`/installs/${install}/backups`, requested)).body, 'id');
  await until(
    () => client.get(`/installs/${install}/backups/${backup}`),
    ({ body }) => text(body, 'status') === 'completed',
  );
});
afterAll(async () => {
  server.process.kill('SIGKILL');
  await server.ended;
  await agent.close();
  await place.remove();
});

test('backups are listed, for people and for scripts', async () => {
  const [table, json, byId, unknown] = await Promise.all([
    cli('backup', 'list', '--install', 'restored'),
    callJson(environment, 'backup', 'list'),
    cli('backup', 'list', '--install', install),
    cli('backup', 'list', '--install', 'unknown'),
  ]);
  expect(table.stdout).toMatch(/^ID +INSTALL +STATUS +SIZE +REQUESTED +DESCRIPTION\n/);
  expect(table.stdout).toMatch(
    new RegExp(`^${backup}  restored  completed  30\\d kB  20.* UTC  before  \\[31mthe launch$`, 'm'),
  );
  expect(json).toEqual([
    {
      id: backup,
      status: 'completed',
      install_id: install,
      install_name: 'restored',
      description: 'before \u001b[31mthe launch',
      bytes: expect.any(Number),
      reason: null,
      scheduled: false,
      missing_since: null,
      created_at: expect.stringMatching(/^20.*Z$/),
    },
  ]);
  expect(table.stdout).toMatch(/\n\n1 backup, 30\d kB in all\.\n$/);
  expect(byId.stdout).toBe(table.stdout);
  expect(unknown).toEqual({
    code: 1,
    stdout: '',
    stderr: 'homeport: There is no install "unknown"; "homeport install list" shows them all.\n',
  });
});

test('without a terminal and without --yes nothing is replaced', async () => {
  const defaced = deface();
  expect(await cli('backup', 'restore', backup)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'homeport: This replaces the present website of restored. Without a terminal, add --yes.\n',
  });
  expect(website()).toEqual(defaced);
});

test('a running server restores every byte, and the command waits for it', async () => {
  deface();
  const { code, stdout, stderr } = await cli('backup', 'restore', backup, '--yes');
  expect(stdout).toMatch(/^Restored restored to its backup of 20.* UTC\.\n$/);
  expect(stderr).toMatch(/^Restoring restored: (waiting|running|succeeded), 0 s\n/);
  expect(code).toBe(0);
  expect(website()).toEqual(original);
});

test('into another install, whose own files make way; the backed-up one is left alone', async () => {
  const account_id = text((await client.get(`/installs/${install}`)).body, 'account', 'id');
  const copy = text((await client.post('/installs', { name: 'copied', account_id })).body, 'id');
  await until(
    () => client.get(`/installs/${copy}`),
    ({ body }) => text(body, 'status') === 'active',
  );
  const defaced = deface();
  expect(await cli('backup', 'restore', backup, '--into', 'copied')).toMatchObject({
    code: 1,
    stderr: 'homeport: This replaces the present website of copied. Without a terminal, add --yes.\n',
  });
  const { code, stdout } = await cli('backup', 'restore', backup, '--into', 'copied', '--yes');
  expect(stdout).toMatch(/^Restored copied to restored's backup of 20.* UTC\.\n$/);
  expect(code).toBe(0);
  expect(website(copy)).toEqual(original);
  expect(website()).toEqual(defaced);
  expect(await cli('backup', 'restore', backup, '--into', 'unknown', '--yes')).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'homeport: There is no install "unknown" to restore into; "homeport install list" shows them all.\n',
  });
});

test('without a server the command does it itself, also where one was killed a moment ago', async () => {
  server.process.kill('SIGKILL');
  await server.ended;
  deface();
  expect(await callJson(environment, 'backup', 'restore', backup, '--yes')).toEqual({
    job_id: expect.any(String),
    backup_id: backup,
    install_name: 'restored',
    state: 'succeeded',
  });
  expect(website()).toEqual(original);
});

onlyInLong(test)('a server that starts takes over from a command, and runs its job', async () => {
  const database = openDatabase(place.settings, silent);
  onTestFinished(() => database.close());
  const first = await holdUp(database);
  deface();
  const waiting = begin(environment, 'backup', 'restore', backup, '--yes');
  await waiting.printed('Restoring restored: waiting, 0 s');
  await until(async () => isLocked(join(place.settings.dataDir, 'websites.lock')), Boolean);
  server = await serve(environment);
  await goOn(database, first);
  expect(await waiting.ended).toMatchObject({ code: 0 });
  expect(website()).toEqual(original);
  server.process.kill('SIGKILL');
  await server.ended;
});

onlyInLong(test)('Ctrl-C ends the waiting only; the restore stays to be done', async () => {
  const database = openDatabase(place.settings, silent);
  onTestFinished(async () => {
    await database.write(({ queries }) => queries.deleteFrom('workers').execute());
    await database.close();
  });
  const elsewhere = await holdUp(database);
  await database.write(async ({ queries }) => {
    // Alive however long the command takes to start.
    const row = { id: elsewhere, process: 'elsewhere:1', seen_at: soon() };
    await queries.insertInto('workers').values(row).execute();
  });
  const defaced = deface();
  const interrupted = async () => {
    const waiting = begin(environment, 'backup', 'restore', backup, '--yes');
    await waiting.printed('Restoring restored: waiting, 0 s');
    waiting.process.kill('SIGINT');
    const { code, stdout, stderr } = await waiting.ended;
    expect({ code, stdout }).toEqual({ code: 130, stdout: '' });
    return stderr;
  };
  expect(await interrupted()).toMatch(
    /restore of restored continues without this command \(job [0-9a-f-]{36}\)\.\n$/,
  );
  await database.write(({ queries }) => queries.deleteFrom('workers').execute());
  expect(await interrupted()).toMatch(
    /stays in the queue \(job [0-9a-f-]{36}\)\. It continues when "homeport serve" runs\.\n$/,
  );

  const left = await database.reader
    .selectFrom('jobs')
    .select('kind')
    .where('state', '=', 'queued')
    .orderBy('seq')
    .execute();
  expect(left.map(({ kind }) => kind)).toEqual(['apply_install', 'restore_backup', 'restore_backup']);
  expect(await database.reader.selectFrom('workers').selectAll().execute()).toEqual([]);
  expect(website()).toEqual(defaced);
  await goOn(database, elsewhere);
});

test('a damaged backup restores nothing, and says why', async () => {
  const snapshots = join(place.settings.dataDir, 'host', 'snapshots');
  const archive = readdirSync(snapshots, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort((a, b) => readFileSync(b).length - readFileSync(a).length)[0];
  const bytes = readFileSync(archive ?? '');
  const middle = Math.floor(bytes.length / 2);
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  writeFileSync(archive ?? '', bytes);
  // The queue still has a job of the previous test, which fails first.
  const defaced = deface();
  const { code, stdout, stderr } = await cli('backup', 'restore', backup, '--yes');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^homeport: The restore of restored failed: .+$/m);
  expect(stderr).not.toMatch(/^ +at /m);
  expect(website()).toEqual(defaced);
});

test('a backup that is not complete cannot be restored', async () => {
  const database = openDatabase(place.settings, silent);
  await database.write(({ queries }) => queries.updateTable('backups').set({ status: 'aborted' }).execute());
  await database.close();
  expect(await cli('backup', 'restore', backup)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'homeport: The backup is aborted; only a completed one can be restored.\n',
  });
});
