import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrate } from '../../src/database/migrate.ts';
import { openDatabase } from '../../src/database/open.ts';
import { type Client, createAgent, createClient } from '../client.ts';
import { type DatabasePlace, databasePlace, silent, temporaryFolder } from '../database.ts';
import { begin, type Environment, environmentFor, type Running, run, serve } from './run-homeport.ts';

const OWNER = { username: '0c7f2a5e-3b1d-4e6f-8a90-1d2c3b4a5f61', password: 'sixteen characters and more' };

let folder: ReturnType<typeof temporaryFolder>;
let target: DatabasePlace;
/** Without the password, as a command takes it. */
let address: string;
let environment: Environment;
let server: Running;
let agent: ReturnType<typeof createAgent>;
let client: Client;

beforeAll(async () => {
  folder = temporaryFolder();
  target = await databasePlace();
  const url = new URL(target.settings.databaseUrl ?? '');
  const PGPASSWORD = decodeURIComponent(url.password);
  url.password = '';
  address = url.href;
  const place = { settings: { databaseUrl: null, dataDir: folder.path }, remove: async () => {} };
  environment = await environmentFor(place, {
    HOMEPORT_INITIAL_CREDENTIAL: `${OWNER.username}:${OWNER.password}`,
    HOMEPORT_RESOLVERS: '127.0.0.1:9',
    HOMEPORT_LOG_LEVEL: 'error',
    ...(PGPASSWORD === '' ? {} : { PGPASSWORD }),
  });
  await start();
});
afterAll(async () => {
  server?.process.kill();
  await server?.ended;
  await agent?.close();
  await target?.remove();
  folder?.remove();
});

async function start(more: Environment = {}): Promise<void> {
  server = await serve({ ...environment, ...more });
  await agent?.close();
  agent = createAgent(readFileSync(join(folder.path, 'tls/api.crt'), 'utf8'));
  const parts = { origin: environment.HOMEPORT_PUBLIC_URL ?? '', agent, conformance: () => undefined };
  client = createClient(parts, OWNER);
}

async function connect(): Promise<pg.Client> {
  const connection = new pg.Client({ connectionString: target.settings.databaseUrl ?? '' });
  await connection.connect();
  return connection;
}

const accounts = async (of = client) => (await of.get('/accounts')).body;
const create = async (name: string) => {
  const { results } = (await accounts()) as { results: { id: string }[] };
  const [account] = results;
  return (await client.post('/sites', { name, account_id: account?.id })).status;
};

test('names what is missing, and takes no password in an argument', async () => {
  const without = await run(environment, 'platform', 'migrate');
  expect(without).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('Name the PostgreSQL database in --to'),
  });
  for (const secret of [address.replace('@', ':a-secret-word@'), `${address}?password=a-secret-word`]) {
    const told = await run(environment, 'platform', 'migrate', '--to', secret);
    expect(told).toMatchObject({ code: 1, stderr: expect.stringContaining('PGPASSWORD') });
    expect(`${told.stdout}${told.stderr}`).not.toContain('a-secret-word');
  }
  const other = await run(environment, 'platform', 'migrate', '--to', 'mysql://root@127.0.0.1/homeport');
  expect(other).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--to must be an address that begins with'),
  });
  const nothing = await run(environment, 'platform', 'migrate', '--cancel');
  expect(nothing).toMatchObject({ code: 1, stderr: expect.stringContaining('There is nothing to cancel') });
});

test('a move that is killed leaves everything on SQLite, and another one succeeds', async () => {
  // The tables that the killed move would have created. Locked, so that it waits.
  const prepared = openDatabase(target.settings, silent);
  await migrate(prepared);
  await prepared.close();
  const keeper = await connect();
  const looking = await connect();
  await keeper.query('begin; lock table wp_cli_runs');
  const killed = begin(environment, 'platform', 'migrate', '--to', address);
  await expect
    .poll(
      async () =>
        (
          await looking.query(
            "select from pg_stat_activity where application_name = 'homeport platform migrate' and wait_event_type = 'Lock'",
          )
        ).rowCount,
    )
    .toBe(1);
  expect((await client.get('/accounts')).status).toBe(200);
  expect(await create('Meanwhile')).toBe(503);
  killed.process.kill('SIGKILL');
  await killed.ended;
  await keeper.query('rollback');
  for (const one of [keeper, looking]) await one.end();
  expect(await create('Afterwards')).toBe(201);

  const moved = await run(environment, 'platform', 'migrate', '--to', address);
  expect(moved.stderr).toBe('');
  expect(moved.stdout).toMatch(
    /^Moved \d+ rows of \d+ tables to 127\.0\.0\.1:\d+\/test_\w+, and compared each\.\n\nNext:\n {2}1\. Set HOMEPORT_DATABASE_URL/,
  );
});

test('afterwards commands and servers on SQLite say where the platform is, and PostgreSQL has it', async () => {
  const before = await accounts();
  const doctor = await run(environment, 'doctor');
  expect(doctor.stdout + doctor.stderr).toContain('was moved to PostgreSQL');
  server.process.kill();
  await server.ended;
  const refused = await run(environment, 'serve');
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('Set HOMEPORT_DATABASE_URL') });
  const HOMEPORT_DATABASE_URL = target.settings.databaseUrl ?? '';
  await start({ HOMEPORT_DATABASE_URL });
  expect(await accounts()).toEqual(before);
  expect(await create('On PostgreSQL')).toBe(201);
  const again = await run({ ...environment, HOMEPORT_DATABASE_URL }, 'platform', 'migrate', '--to', address);
  expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('is on PostgreSQL already') });
});
