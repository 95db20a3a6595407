import { randomBytes, randomUUID } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createResources, domainName, type ResourceSet } from '../../../test/contract/resource-set.ts';
import {
  type DatabasePlace,
  databasePlace,
  migratedPlace,
  silent,
  temporaryFolder,
} from '../../../test/database.ts';
import { visit } from '../../../test/edge.ts';
import { type Person, startTestHomeport, type TestHomeport } from '../../../test/homeport.ts';
import { openCurrentDatabase } from '../../app/open-platform.ts';
import { checkCounts } from '../../cli/doctor/counts.ts';
import { systemClock } from '../../lib/clock.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { migrate } from '../migrate.ts';
import { openDatabase, SQLITE_FILE } from '../open.ts';
import { DifferentRows } from './compare-rows.ts';
import { cancelMove, moveToPostgres } from './move-to-postgres.ts';

let folder: ReturnType<typeof temporaryFolder>;
let target: DatabasePlace;
let file: string;
let url: string;
let homeport: TestHomeport;
let accountId: string;
let owner: Person;
let resources: ResourceSet;
const site = `http://${domainName()}/`;

const place = (databaseUrl: string | null) => ({
  settings: { databaseUrl, dataDir: folder.path },
  remove: async () => {},
});
const move = (onProgress = () => {}) =>
  moveToPostgres(file, url, { log: silent, clock: systemClock, onProgress });

beforeAll(async () => {
  folder = temporaryFolder();
  file = join(folder.path, SQLITE_FILE);
  target = await databasePlace();
  url = target.settings.databaseUrl ?? '';
  homeport = await startTestHomeport({ place: place(null) });
  ({ accountId, owner } = await homeport.ownedAccount());
  resources = await createResources(homeport, owner, accountId);
  await owner.client.post(`/installs/${resources.install_id}/domains`, { name: new URL(site).hostname });
  await homeport.idle();
});
afterAll(async () => {
  await homeport?.remove();
  await target?.remove();
  folder?.remove();
});

/** Answers of the API, by path. */
async function answers(): Promise<Record<string, unknown>> {
  const { install_id, site_id } = resources;
  const paths = [
    ...['', `/${accountId}`, `/${accountId}/account_users`, `/${accountId}/usage`].map(
      (path) => `/accounts${path}`,
    ),
    ...['', `/${site_id}`].map((path) => `/sites${path}`),
    ...['', `/${install_id}`, `/${install_id}/domains`, `/${install_id}/backups`].map(
      (path) => `/installs${path}`,
    ),
    ...[`/accounts/${accountId}/activity`, '/webhooks', '/events', '/ssh_keys', '/user'],
  ];
  const read: Record<string, unknown> = {};
  for (const path of paths) {
    const { status, body } = await owner.client.get(path);
    read[path] = { status, body };
  }
  return read;
}

async function query(databaseUrl: string | null, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: databaseUrl ?? '' });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

/** Changes the SQLite database as another program would. */
function onSource(text: string): void {
  const connection = new Sqlite(file);
  connection.exec(text);
  connection.close();
}

const rename = (name: string) => owner.client.patch(`/sites/${resources.site_id}`, { name });

test('moves to no database that another platform uses', async () => {
  const taken = await databasePlace();
  await query(taken.settings.databaseUrl, 'create table shop (id integer)');
  const options = { log: silent, clock: systemClock };
  await expect(moveToPostgres(file, taken.settings.databaseUrl ?? '', options)).rejects.toThrow(
    /not empty: it has the table shop\. Create an empty one/,
  );
  await taken.remove();
  const absent = url.replace(/\w+$/, 'absent');
  await expect(moveToPostgres(file, absent, options)).rejects.toThrow(
    /\/absent cannot be used: .*does not exist/,
  );
});

test('says what a user lacks that may create no tables', async () => {
  const owned = await databasePlace();
  const name = `poor_${randomBytes(6).toString('hex')}`;
  await query(owned.settings.databaseUrl, `create role ${name} login password 'poor'`);
  const address = new URL(owned.settings.databaseUrl ?? '');
  Object.assign(address, { username: name, password: 'poor' });
  const moved = moveToPostgres(file, address.href, { log: silent, clock: systemClock });
  await expect(moved).rejects.toThrow(OperatorError);
  await expect(moved).rejects.toThrow(
    /permission denied for schema public\. Its user has to own the database/,
  );
  await query(owned.settings.databaseUrl, `drop role ${name}`);
  await owned.remove();
});

test('moves one of two platforms that are moved to the same database at once', async () => {
  const shared = await migratedPlace();
  const sources = ['first', 'second'].map((name) => {
    const of = temporaryFolder();
    return { name, ...of, file: join(of.path, SQLITE_FILE) };
  });
  const empty = temporaryFolder();
  const opened = openDatabase({ databaseUrl: null, dataDir: empty.path }, silent);
  await migrate(opened);
  await opened.close();
  for (const source of sources) {
    copyFileSync(join(empty.path, SQLITE_FILE), source.file);
    const connection = new Sqlite(source.file);
    connection
      .prepare('insert into accounts (id, name, created_at) values (?, ?, ?)')
      .run(randomUUID(), source.name, '2026-01-01T00:00:00.000Z');
    connection.close();
  }
  const to = shared.settings.databaseUrl ?? '';
  const outcomes = await Promise.allSettled(
    sources.map((source) => moveToPostgres(source.file, to, { log: silent, clock: systemClock })),
  );
  expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = outcomes.find(({ status }) => status === 'rejected');
  expect(refused).toMatchObject({ reason: { message: expect.stringContaining('not empty') } });
  const winner = sources[outcomes.findIndex(({ status }) => status === 'fulfilled')];
  expect(await query(to, 'select name from accounts')).toEqual([{ name: winner?.name }]);
  for (const folder of [empty, ...sources]) folder.remove();
  await shared.remove();
});

test('stays on SQLite when PostgreSQL does not take a row, or has another', async () => {
  const at = '2026-01-01T00:00:00.000';
  // PostgreSQL has no text with this sign.
  onSource(`insert into acme_validations (name, at) values ('a' || char(0) || 'b', '${at}Z')`);
  await expect(move()).rejects.toThrow(/does not take the rows of the table acme_validations: .*Nothing/);
  // With more digits than the column of PostgreSQL has.
  onSource(`update acme_validations set name = 'Café 🚢', at = '${at}4Z'`);
  await expect(move()).rejects.toThrow(DifferentRows);
  onSource(`update acme_validations set at = '${at}Z'`);
  expect(await query(url, 'select count(*)::int as count from sites')).toEqual([{ count: 0 }]);
  expect((await rename('Harbour café')).status).toBe(200);
});

test('moves every row while websites and reads are answered, and ends the changes on SQLite', async () => {
  const before = await answers();
  expect(Object.values(before)).toEqual(
    Object.values(before).map(() => expect.objectContaining({ status: 200 })),
  );
  const during: number[] = [];
  const asked: Promise<void>[] = [];
  const ask = () => {
    if (asked.length >= 20) return;
    asked.push(
      (async () => {
        during.push((await visit(homeport, site)).status);
        during.push((await owner.client.get(`/installs/${resources.install_id}`)).status);
      })(),
    );
  };
  const { rows, tables } = await move(ask);
  await Promise.all(asked);
  expect(during.length).toBeGreaterThan(0);
  expect(during.filter((status) => status !== 200)).toEqual([]);
  expect(rows).toBeGreaterThan(100);
  expect(tables).toBeGreaterThan(50);

  expect((await rename('Lost')).status).toBe(503);
  expect((await visit(homeport, site)).status).toBe(200);
  expect(await answers()).toEqual(before);
  await expect(
    openCurrentDatabase({ ...homeport.config, databaseUrl: null }, silent, { isCommand: false }),
  ).rejects.toThrow(/was moved to PostgreSQL at .*\/test_\w+ on .*Set HOMEPORT_DATABASE_URL/);
  await expect(move()).rejects.toThrow(OperatorError);

  await homeport.remove();
  homeport = await startTestHomeport({ place: place(url) });
  owner = { ...owner, client: homeport.clientOf(owner.credential) };
  expect(await answers()).toEqual(before);
  expect((await visit(homeport, site)).status).toBe(200);
});

test('goes on as on SQLite: with the next numbers, right counts, and websites for new installs', async () => {
  expect((await checkCounts(homeport.platform.database)).state).toBe('ok');
  const made = await homeport.install(owner, accountId);
  expect((await visit(homeport, `http://${made.name}.${homeport.config.siteDomain}/`)).status).toBe(200);
  expect((await rename('On PostgreSQL')).status).toBe(200);
  const migrated = await migratedPlace();
  const objects = (databaseUrl: string | null) =>
    query(
      databaseUrl,
      `select conname as name, pg_get_constraintdef(oid) as definition, convalidated as is_on from pg_constraint
         where connamespace = 'public'::regnamespace
       union all select tgname, pg_get_triggerdef(oid), tgenabled = 'O' from pg_trigger where not tgisinternal order by 1, 2`,
    );
  expect(await objects(url)).toEqual(await objects(migrated.settings.databaseUrl));
  await migrated.remove();
});

test('returns to SQLite on demand', async () => {
  await homeport.remove();
  expect(cancelMove(file).to).toMatch(/^127\.0\.0\.1:\d+\/test_\w+$/);
  expect(() => cancelMove(file)).toThrow(/was not moved/);
  homeport = await startTestHomeport({ place: place(null) });
  owner = { ...owner, client: homeport.clientOf(owner.credential) };
  expect((await rename('Back')).status).toBe(200);
});
