import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import { fleetWalks } from './migrations/0060-fleet-walks.ts';
import { POSTGRES_TYPES, SQLITE_TYPES } from './migrations/column-types.ts';

const at = '2026-01-01T00:00:00.000Z';
const later = '2026-01-02T00:00:00.000Z';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
const [account, read, unread] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
const [ordered, unordered] = [crypto.randomUUID(), crypto.randomUUID()];

beforeAll(async () => {
  database = await openTestDatabase();
  await database.write(async ({ queries }) => {
    await queries.insertInto('accounts').values({ id: account, name: 'One', created_at: at }).execute();
    for (const [install, domain] of [
      [read, ordered],
      [unread, unordered],
    ] as const) {
      await queries
        .insertInto('installs')
        .values({
          ...{ id: install, account_id: account, site_id: null, environment: null, name: `i${install}` },
          ...{ status: 'active', php_version: null, stable_ips: null, created_at: at },
          ...{ offload_file_name: 'a', offload_file_content: 'b' },
        })
        .execute();
      await queries
        .insertInto('domains')
        .values({
          ...{
            id: domain,
            install_id: install,
            name: `${install}.example`,
            is_cname: true,
            is_primary: true,
          },
          ...{ is_duplicate: false, redirect_to_id: null, created_at: at },
        })
        .execute();
    }
    await queries
      .insertInto('wordpress_readings')
      .values({ install_id: read, plugin_updates: 0, theme_updates: 0, due_at: at })
      .execute();
    await queries
      .insertInto('certificate_attempts')
      .values({ domain_id: ordered, held_until: null, order_id: null, next_at: at })
      .execute();
  });
});
afterAll(() => database.remove());

async function marks() {
  const { reader } = database;
  const [installs, domains, looks] = await Promise.all([
    reader.selectFrom('installs').select(['id', 'awaits_reading']).execute(),
    reader.selectFrom('domains').select(['id', 'awaits_order']).execute(),
    reader.selectFrom('domain_looks').selectAll().execute(),
  ]);
  return {
    ...Object.fromEntries(installs.map(({ id, awaits_reading }) => [id, awaits_reading])),
    ...Object.fromEntries(domains.map(({ id, awaits_order }) => [id, awaits_order])),
    looks: new Map(looks.map(({ domain_id, looked_at }) => [domain_id, looked_at])),
  };
}

const MARKED = {
  ...{ [read]: false, [unread]: true, [ordered]: false, [unordered]: true },
  looks: new Map([
    [ordered, at],
    [unordered, at],
  ]),
};

it('marks what was never read or ordered', async () => {
  expect(await marks()).toEqual(MARKED);
});

it('marks it again once the reading or the order is gone', async () => {
  await database.write(async ({ queries }) => {
    await queries.deleteFrom('wordpress_readings').execute();
    await queries.deleteFrom('certificate_attempts').execute();
  });
  expect(await marks()).toEqual({ ...MARKED, [read]: true, [ordered]: true });
  await database.write(async ({ queries }) => {
    await queries
      .insertInto('wordpress_readings')
      .values({ install_id: read, plugin_updates: 0, theme_updates: 0, due_at: at })
      .execute();
    await queries
      .insertInto('certificate_attempts')
      .values({ domain_id: ordered, held_until: null, order_id: null, next_at: at })
      .execute();
  });
  expect(await marks()).toEqual(MARKED);
});

it('marks what an earlier version stored', async () => {
  const isPostgres = database.dialect === 'postgres';
  const statements = fleetWalks(isPostgres ? POSTGRES_TYPES : SQLITE_TYPES, database.dialect);
  await database.write(async ({ queries }) => {
    const run = (statement: string) => sql.raw(statement).execute(queries);
    for (const statement of statements) {
      const [, trigger, table] = /^create trigger (\w+)[^;]* on (\w+) for each row/.exec(statement) ?? [];
      if (trigger === undefined || trigger.startsWith('changes_')) continue;
      await run(`drop trigger ${trigger}${isPostgres ? ` on ${table}` : ''}`);
    }
    for (const kind of ['function', 'index']) {
      for (const statement of statements) {
        const [, name] = new RegExp(`^create ${kind} (\\w+)`).exec(statement) ?? [];
        if (name !== undefined) await run(`drop ${kind} ${name}`);
      }
    }
    await run('alter table installs drop column awaits_reading');
    await run('alter table domains drop column awaits_order');
    await queries.deleteFrom('domain_looks').where('domain_id', '=', unordered).execute();
    await queries.updateTable('domain_looks').set({ looked_at: later }).execute();
    for (const statement of statements) await run(statement);
  });
  expect(await marks()).toEqual({
    ...MARKED,
    looks: new Map([
      [ordered, later],
      [unordered, at],
    ]),
  });
});
