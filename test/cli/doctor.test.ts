import { createHash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pendingMigrations } from '../../src/database/migrate.ts';
import { openDatabase } from '../../src/database/open.ts';
import {
  type FakeDnsServer,
  REFUSED,
  reply,
  startFakeDnsServer,
} from '../../src/network/dns/fake-dns-server.fixture.ts';
import { field, text } from '../client.ts';
import { type DatabasePlace, databasePlace, silent } from '../database.ts';
import { freePort } from '../servers/free-port.ts';
import { call } from './call-homeport.ts';
import { type Environment, environmentFor } from './run-homeport.ts';

let place: DatabasePlace;
let environment: Environment;
let resolver: FakeDnsServer;
beforeAll(async () => {
  place = await databasePlace();
  resolver = await startFakeDnsServer((query) => [reply(query)]);
  environment = await environmentFor(place, { HOMEPORT_RESOLVERS: `127.0.0.1:${resolver.port}` });
});
afterAll(async () => {
  await resolver.close();
  await place.remove();
});

/** The findings of `doctor`, by what was checked. */
async function doctor(
  changes: Environment = {},
): Promise<{ code: number | null; states: Record<string, string> }> {
  const { code, stdout } = await call({ ...environment, ...changes }, 'doctor', '--json');
  const checks: unknown = field(JSON.parse(stdout), 'checks');
  if (!Array.isArray(checks)) throw new Error(`no checks in ${stdout}`);
  for (const check of checks) {
    expect(Object.keys(check)).toEqual(['check', 'state', 'message', 'remedy']);
    expect(text(check, 'message')).toMatch(/^\S.*[^.]\.$/s);
    expect(field(check, 'remedy') === null).toBe(text(check, 'state') === 'ok');
  }
  return {
    code,
    states: Object.fromEntries(checks.map((check: unknown) => [text(check, 'check'), text(check, 'state')])),
  };
}

/** Every file below the data folder, as the hash of its bytes. */
function dataFolder(): Record<string, string> {
  const entries = readdirSync(place.settings.dataDir, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [path, createHash('sha256').update(readFileSync(path)).digest('hex')]),
  );
}

test('an empty database is not migrated', async () => {
  const database = openDatabase(place.settings, silent);
  await database.ping();
  const before = await pendingMigrations(database);
  const { code, states } = await doctor();
  expect({ code, schema: states.schema, jobs: states.jobs }).toEqual({
    code: 0,
    schema: 'warning',
    jobs: undefined,
  });
  expect(await pendingMigrations(database)).toEqual(before);
  expect(before).not.toEqual([]);
  await database.close();
});

test('without a server: all is well except mail and the backup of the platform, and nothing is changed', async () => {
  await call(environment, 'migrate');
  const before = dataFolder();
  const [{ code, states }, shown] = [await doctor(), await call(environment, 'doctor')];
  expect(states).toEqual({
    configuration: 'ok',
    'data folder': 'ok',
    'disk space': expect.stringMatching(/ok|warning/),
    database: 'ok',
    schema: 'ok',
    'sealing key': 'ok',
    certificate: 'ok',
    'certificate authority': 'ok',
    resolvers: 'ok',
    'domain certificates': 'ok',
    'portal host': 'ok',
    releases: 'ok',
    API: 'ok',
    'sites, HTTP': 'ok',
    'sites, HTTPS': 'ok',
    SFTP: 'ok',
    websites: 'ok',
    WordPress: 'ok',
    orphans: 'ok',
    jobs: 'ok',
    'failed jobs': 'ok',
    'set aside jobs': 'ok',
    'install names': 'ok',
    counts: 'ok',
    checkpoints: 'ok',
    imports: 'ok',
    'platform backup': 'warning',
    mail: 'warning',
    'open files': 'ok',
    clock: 'ok',
  });
  expect(code).toBe(0);
  expect(shown.code).toBe(0);
  expect(shown.stdout).toMatch(/^ok +configuration +Read from the environment\.\n/);
  expect(shown.stdout).toMatch(/^warning +mail +There is no mail server.*\n +→ Set HOMEPORT_SMTP_URL/m);
  expect(shown.stdout).toMatch(/\n\n\d warnings?\.\n$/);
  expect(dataFolder()).toEqual(before);
});

test('what does not work is a problem, and 1', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const address = other.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const refusing = await startFakeDnsServer((query) => [reply(query, [], REFUSED)]);
  chmodSync(place.settings.dataDir, 0o755);
  const { code, states } = await doctor({
    HOMEPORT_EDGE_HTTP: `127.0.0.1:${port}`,
    HOMEPORT_SMTP_URL: `smtp://127.0.0.1:${await freePort()}`,
    HOMEPORT_SEALING_KEY_FILE: join(place.settings.dataDir, 'none.key'),
    HOMEPORT_ACME_CA: join(place.settings.dataDir, 'none.pem'),
    HOMEPORT_RESOLVERS: `127.0.0.1:${refusing.port}`,
    HOMEPORT_TLS_CERT: join(place.settings.dataDir, 'none.crt'),
    HOMEPORT_TLS_KEY: join(place.settings.dataDir, 'none.key'),
  });
  other.close();
  await refusing.close();
  const problems = Object.keys(states).filter((check) => states[check] === 'problem');
  expect(problems).toEqual([
    'data folder',
    'sealing key',
    'certificate',
    'certificate authority',
    'resolvers',
    'sites, HTTP',
    'mail',
  ]);
  expect(code).toBe(1);
});

test('where there is nothing yet, nothing is made', async () => {
  const dataDir = join(place.settings.dataDir, 'other');
  const { code, states } = await doctor({ HOMEPORT_DATA_DIR: dataDir });
  expect(code).toBe(0);
  expect(states).toMatchObject({ 'data folder': 'warning', database: 'warning', clock: 'ok' });
  expect(readdirSync(place.settings.dataDir)).not.toContain('other');
});

test('--host, where the server itself serves the websites, has nothing to compare', async () => {
  await call(environment, 'migrate');
  expect(await call(environment, 'doctor', '--host')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('There are no hosts: the server itself serves the websites'),
  });
});
