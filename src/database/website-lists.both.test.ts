import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import { miscountedAccounts, recountAccount } from '../features/websites/installs/recount-store.ts';
import { insertSite, updateSite } from '../features/websites/sites/store.ts';
import { websiteLists } from './migrations/0067-website-lists.ts';
import { primaryDomains } from './migrations/0069-primary-domains.ts';
import { POSTGRES_TYPES, SQLITE_TYPES } from './migrations/column-types.ts';

const at = '2026-01-01T00:00:00.000Z';
/** Characters that a text in JSON escapes. */
const ODD = String.raw`a "b" \n c`;

let database: Awaited<ReturnType<typeof openTestDatabase>>;
const [account, shop, blog] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
const installs = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()] as const;

beforeAll(async () => {
  database = await openTestDatabase();
  await database.write(async ({ queries }) => {
    await queries
      .insertInto('accounts')
      .values({ id: account, name: 'One', site_count: 2, install_count: 3, created_at: at })
      .execute();
    const site = { account_id: account, sandbox: false, transferable: false, created_at: at };
    await insertSite(queries, { ...site, id: shop, name: 'Shop', tags: ['Client', ODD] });
    await insertSite(queries, { ...site, id: blog, name: 'Blog', tags: [] });
    for (const [index, id] of installs.entries()) {
      await queries
        .insertInto('installs')
        .values({
          ...{ id, account_id: account, site_id: index < 2 ? shop : null, environment: null },
          ...{ name: `i${index}`, status: 'active', php_version: null, stable_ips: null, created_at: at },
          ...{ offload_file_name: 'a', offload_file_content: 'b' },
        })
        .execute();
    }
  });
});
afterAll(() => database.remove());

const types = () => (database.dialect === 'sqlite' ? SQLITE_TYPES : POSTGRES_TYPES);

const sizes = async () =>
  Object.fromEntries(
    (await database.reader.selectFrom('site_sizes').selectAll().execute()).map(({ site_id, installs }) => [
      site_id === shop ? 'shop' : 'blog',
      installs,
    ]),
  );
const counts = () =>
  database.reader
    .selectFrom('tag_counts')
    .select(['key', 'tag', 'sites', 'installs'])
    .where('account_id', '=', account)
    .orderBy('key')
    .execute();

it('the installs of each site and each tag are counted', async () => {
  expect(await sizes()).toEqual({ shop: 2, blog: 0 });
  expect(await counts()).toEqual([
    { key: ODD, tag: ODD, sites: 1, installs: 2 },
    { key: 'client', tag: 'Client', sites: 1, installs: 2 },
  ]);
});

it('a change of tags and a move of an install change the counts', async () => {
  await database.write(async ({ queries }) => {
    await updateSite(queries, blog, {
      name: 'Blog',
      sandbox: false,
      transferable: false,
      tags: ['CLIENT'],
    });
    await queries.updateTable('installs').set({ site_id: blog }).where('id', '=', installs[0]).execute();
    await queries.deleteFrom('installs').where('id', '=', installs[2]).execute();
    await queries.updateTable('accounts').set({ install_count: 2 }).where('id', '=', account).execute();
  });
  expect(await sizes()).toEqual({ shop: 1, blog: 1 });
  expect(await counts()).toEqual([
    { key: ODD, tag: ODD, sites: 1, installs: 1 },
    { key: 'client', tag: 'CLIENT', sites: 2, installs: 2 },
  ]);
  expect(await miscountedAccounts(database.reader)).toEqual([]);
});

it('wrong counts are noticed, and counted again', async () => {
  const right = [await sizes(), await counts()];
  for (const spoil of [
    sql`update tag_counts set installs = 7 where key = 'client'`,
    sql`delete from tag_counts where key = 'client'`,
    sql`update site_sizes set installs = 7`,
  ]) {
    await database.write(({ queries }) => spoil.execute(queries));
    expect(await miscountedAccounts(database.reader)).toEqual([account]);
    await recountAccount(database, account);
    expect(await miscountedAccounts(database.reader)).toEqual([]);
    expect([await sizes(), await counts()]).toEqual(right);
  }
});

it('what an earlier version stored is filled in', async () => {
  const right = [await sizes(), await counts()];
  await database.write(async ({ queries }) => {
    for (const table of ['tag_counts', 'site_tags', 'site_sizes'] as const)
      await queries.deleteFrom(table).execute();
    const statements = websiteLists(types(), database.dialect).filter((one) => one.startsWith('insert '));
    // Their triggers do not exist yet when a migration runs them.
    await queries.deleteFrom('tag_counts').execute();
    for (const statement of statements.slice(0, 2)) await sql.raw(statement).execute(queries);
    await queries.deleteFrom('tag_counts').execute();
    for (const statement of statements.slice(2)) await sql.raw(statement).execute(queries);
  });
  expect([await sizes(), await counts()]).toEqual(right);
});

it('an install is named by its primary domain, and by its own name without one', async () => {
  const named = async () =>
    (
      await database.reader
        .selectFrom('primary_domains')
        .select('name')
        .where('install_id', '=', installs[0])
        .execute()
    ).map(({ name }) => name);
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
  const domain = { install_id: installs[0], is_cname: false, is_duplicate: false, redirect_to_id: null };
  const insert = (id: string, name: string, is_primary: boolean) =>
    database.write(({ queries }) =>
      queries
        .insertInto('domains')
        .values({
          ...domain,
          id,
          name,
          is_primary,
          reached: null,
          checked_at: null,
          ssl_reason: null,
          created_at: at,
        })
        .execute(),
    );
  const setPrimary = (id: string, is_primary: boolean) =>
    database.write(({ queries }) =>
      queries.updateTable('domains').set({ is_primary }).where('id', '=', id).execute(),
    );
  expect(await named()).toEqual(['i0']);
  await insert(first, 'one.example', true);
  await insert(second, 'two.example', false);
  expect(await named()).toEqual(['one.example']);
  await setPrimary(first, false);
  expect(await named()).toEqual(['i0']);
  await setPrimary(second, true);
  expect(await named()).toEqual(['two.example']);
  const fill = primaryDomains(types(), database.dialect).filter((one) => one.startsWith('insert '));
  await database.write(async ({ queries }) => {
    await queries.deleteFrom('primary_domains').execute();
    for (const statement of fill) await sql.raw(statement).execute(queries);
  });
  expect(await named()).toEqual(['two.example']);
  await database.write(({ queries }) => queries.deleteFrom('domains').where('id', '=', second).execute());
  expect(await named()).toEqual(['i0']);
});

it('a deleted site leaves no counts', async () => {
  await database.write(async ({ queries }) => {
    await queries.deleteFrom('installs').execute();
    await queries.deleteFrom('sites').where('account_id', '=', account).execute();
  });
  expect([await sizes(), await counts()]).toEqual([{}, []]);
  expect(await database.reader.selectFrom('primary_domains').selectAll().execute()).toEqual([]);
});
