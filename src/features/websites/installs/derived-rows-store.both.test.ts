import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { openTestDatabase } from '../../../../test/database.ts';
import type { Queries } from '../../../database/database.ts';
import { joinedKeys } from '../site-tags/tag-keys.ts';
import { miscountedAccounts, recountAccount } from './recount-store.ts';

const now = '2026-01-02T03:04:05.678Z';

let database: Awaited<ReturnType<typeof openTestDatabase>>;
let account: string;
let site: string;
let install: string;
let job: string;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database.remove());

const change = <Result>(work: (queries: Queries) => Promise<Result>): Promise<Result> =>
  database.write(({ queries }) => work(queries));

/** An account with a tagged site, its install with a primary domain and traffic, and an operation that failed. */
async function add(): Promise<{ account: string; site: string; install: string; job: string }> {
  const [account_id, site_id, install_id, job_id] = [
    crypto.randomUUID(),
    crypto.randomUUID(),
    crypto.randomUUID(),
    crypto.randomUUID(),
  ];
  const tags = ['Client', '50 %_'];
  await change(async (queries) => {
    await queries
      .insertInto('accounts')
      .values({ id: account_id, name: 'An account', install_count: 1, site_count: 1, created_at: now })
      .execute();
    await queries
      .insertInto('sites')
      .values({
        ...{ id: site_id, account_id, name: 'A site', created_at: now },
        ...{ tags: JSON.stringify(tags), tag_keys: joinedKeys(tags) },
      })
      .execute();
    await queries
      .insertInto('installs')
      .values({
        ...{
          id: install_id,
          account_id,
          site_id,
          environment: null,
          name: `i${install_id}`,
          status: 'active',
        },
        ...{ php_version: null, stable_ips: null, offload_file_name: 'a', offload_file_content: 'b' },
        created_at: now,
      })
      .execute();
    await queries
      .insertInto('domains')
      .values({
        ...{ id: crypto.randomUUID(), install_id, name: `${install_id}.example`, is_cname: false },
        ...{ is_primary: true, is_duplicate: false, redirect_to_id: null, created_at: now },
      })
      .execute();
    await queries
      .insertInto('usage_traffic')
      .values(
        ['2026-01-01', '2026-01-02'].map((day) => ({
          ...{ install_id, account_id, day, source: 'embedded', requests: 3, bytes: 5_000, visits: 2 },
          ...{ page_requests: null, page_hits: null, page_ms: null },
        })),
      )
      .execute();
    await queries
      .insertInto('jobs')
      .values({
        ...{ id: job_id, kind: 'apply_install', payload: '{}', state: 'queued', max_attempts: 1 },
        ...{ run_at: now, created_at: now },
      })
      .execute();
    await queries
      .insertInto('operations')
      .values({
        ...{ id: crypto.randomUUID(), kind: 'install.apply', job_id, account_id, install_id },
        ...{ install_name: 'a', created_at: now },
      })
      .execute();
    await queries.updateTable('jobs').set({ state: 'failed' }).where('id', '=', job_id).execute();
  });
  return { account: account_id, site: site_id, install: install_id, job: job_id };
}

beforeEach(async () => {
  await add();
  ({ account, site, install, job } = await add());
});

/** The derived rows of the account. */
async function derived() {
  const { reader } = database;
  const [tags, counts, domains, days, operations] = await Promise.all([
    reader.selectFrom('site_tags').selectAll().where('site_id', '=', site).orderBy('key').execute(),
    reader.selectFrom('tag_counts').selectAll().where('account_id', '=', account).orderBy('key').execute(),
    reader.selectFrom('primary_domains').selectAll().where('install_id', '=', install).execute(),
    reader
      .selectFrom('usage_account_days')
      .selectAll()
      .where('account_id', '=', account)
      .orderBy('day')
      .execute(),
    reader.selectFrom('operations').select('outcome').where('job_id', '=', job).execute(),
  ]);
  return { tags, counts, domains, days, operations };
}

it.each<[string, (queries: Queries) => Promise<unknown>]>([
  [
    'a missing tag',
    (queries) =>
      queries.deleteFrom('site_tags').where('site_id', '=', site).where('key', '=', 'client').execute(),
  ],
  ['all tags missing', (queries) => queries.deleteFrom('site_tags').where('site_id', '=', site).execute()],
  [
    'another tag',
    (queries) =>
      queries
        .updateTable('site_tags')
        .set({ key: 'cli' })
        .where('site_id', '=', site)
        .where('key', '=', 'client')
        .execute(),
  ],
  [
    'the installs with a tag',
    (queries) => queries.updateTable('site_tags').set({ installs: 4 }).where('site_id', '=', site).execute(),
  ],
  [
    'a former primary domain',
    (queries) =>
      queries
        .updateTable('primary_domains')
        .set({ name: 'a.example' })
        .where('install_id', '=', install)
        .execute(),
  ],
  [
    'a missing primary domain',
    (queries) => queries.deleteFrom('primary_domains').where('install_id', '=', install).execute(),
  ],
  [
    'the traffic of a day',
    (queries) =>
      queries
        .updateTable('usage_account_days')
        .set({ bytes: 4_999 })
        .where('account_id', '=', account)
        .where('day', '=', '2026-01-01')
        .execute(),
  ],
  [
    'a missing day',
    (queries) =>
      queries
        .deleteFrom('usage_account_days')
        .where('account_id', '=', account)
        .where('day', '=', '2026-01-01')
        .execute(),
  ],
  [
    'a day without traffic',
    (queries) =>
      queries
        .insertInto('usage_account_days')
        .values({
          ...{ account_id: account, day: '2026-01-03', source: 'embedded' },
          ...{ requests: 0, bytes: 0, visits: 0, installs: 0 },
        })
        .execute(),
  ],
  [
    'a missing outcome',
    (queries) => queries.updateTable('operations').set({ outcome: null }).where('job_id', '=', job).execute(),
  ],
])('finds and repairs %s', async (_what, damage) => {
  const before = await derived();
  expect(before).toMatchObject({
    tags: [{ key: '50 %_' }, { key: 'client', tag: 'Client', installs: 1 }],
    operations: [{ outcome: 'failed' }],
  });
  expect(await miscountedAccounts(database.reader)).toEqual([]);
  await change(damage);
  expect(await miscountedAccounts(database.reader)).toEqual([account]);
  await recountAccount(database, account);
  expect(await derived()).toEqual(before);
  expect(await miscountedAccounts(database.reader)).toEqual([]);
});
