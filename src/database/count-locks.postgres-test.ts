import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestDatabase } from '../../test/database.ts';
import { miscountedAccounts, recountAccount } from '../features/websites/installs/recount-store.ts';
import { insertSite, updateSite } from '../features/websites/sites/store.ts';
import type { Queries } from './database.ts';

const at = '2026-01-01T00:00:00.000Z';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
const [account, blog] = [crypto.randomUUID(), crypto.randomUUID()];
const settings = { name: 'Shop', sandbox: false, transferable: false };

beforeAll(async () => {
  database = await openTestDatabase();
  await database.write(async ({ queries }) => {
    await queries.insertInto('accounts').values({ id: account, name: 'One', created_at: at }).execute();
    await addSite(queries, blog, ['Client']);
  });
});
afterAll(() => database.remove());

const addSite = (queries: Queries, id: string, tags: string[]) =>
  insertSite(queries, { ...settings, id, account_id: account, tags, created_at: at });

async function addInstall(queries: Queries, site_id: string): Promise<string> {
  const id = crypto.randomUUID();
  await queries
    .insertInto('installs')
    .values({
      ...{ id, account_id: account, site_id, environment: null, name: `i${id}`, status: 'active' },
      ...{ php_version: null, stable_ips: null, offload_file_name: 'a', offload_file_content: 'b' },
      created_at: at,
    })
    .execute();
  return id;
}

/** The number of statements that wait for a lock. */
async function waiting(): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`.execute(database.reader);
  return rows[0]?.count ?? 0;
}

interface Changed {
  site: string;
  install: string;
}

it.each<[string, string[], (queries: Queries, changed: Changed) => Promise<unknown>]>([
  [
    'a move to another site',
    ['Client'],
    (queries, { install }) =>
      queries.updateTable('installs').set({ site_id: blog }).where('id', '=', install).execute(),
  ],
  [
    'a change of tags',
    ['Client', 'Monthly care'],
    (queries, { site }) => updateSite(queries, site, { ...settings, tags: ['Other'] }),
  ],
  ['the first tag', [], (queries, { site }) => updateSite(queries, site, { ...settings, tags: ['Client'] })],
])(
  '%s and a deletion in a site do not wait for each other, and both are counted',
  async (_what, tags, work) => {
    const site = crypto.randomUUID();
    const [first, second, install] = await database.write(async ({ queries }) => {
      await addSite(queries, site, tags);
      const add = () => addInstall(queries, site);
      return [await add(), await add(), await add()] as const;
    });
    // The account's own numbers are not changed by triggers.
    await recountAccount(database, account);
    let tries = 0;
    const begun = Promise.withResolvers<void>();
    const deletion = database.write(async ({ queries }) => {
      tries += 1;
      await queries.updateTable('installs').set({ status: 'failed' }).where('id', '=', first).execute();
      begun.resolve();
      if (tries === 1) await expect.poll(waiting).toBe(1);
      await queries.deleteFrom('installs').where('id', 'in', [first, second]).execute();
      await queries
        .updateTable('accounts')
        .set((eb) => ({ install_count: eb('install_count', '-', 2) }))
        .execute();
    });
    await begun.promise;
    const change = database.write(async ({ queries }) => {
      tries += 1;
      await work(queries, { site, install });
    });
    await Promise.all([deletion, change]);
    // A deadlock would have been tried again.
    expect(tries).toBe(2);
    expect(await miscountedAccounts(database.reader)).toEqual([]);
  },
);
