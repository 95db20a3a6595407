import { afterAll, beforeAll, expect, it } from 'vitest';
import { openPlannedDatabase, plannedQueries } from '../../../database/planned-queries.fixture.ts';
import type { SortedRequest } from '../../../lib/page.ts';
import { countInstalls, type InstallFilters, type InstallSort, pageOfInstalls } from './list-store.ts';

let planned: Awaited<ReturnType<typeof openPlannedDatabase>>;

beforeAll(async () => {
  planned = await openPlannedDatabase();
});
afterAll(() => planned?.remove());

/** How SQLite would read a list and its number of installs. */
async function planOf(
  filters: InstallFilters,
  count: number,
  asked: Partial<SortedRequest<InstallSort>> = {},
): Promise<string[]> {
  const { queries, plan } = plannedQueries(planned.database);
  const account = {
    account_id: 'a',
    role: 'owner',
    billing: true,
    site_count: 1,
    install_count: 100_000,
  } as const;
  const scope = { userId: 'u', whole: [account], partial: [], installIds: null };
  const page = { limit: 100, offset: 0, sort: { key: null, isDescending: false }, cursor: null, ...asked };
  await pageOfInstalls(queries, scope, page, filters, count);
  // Without a row it has no number.
  await countInstalls(queries, scope, filters).catch(() => 0);
  return plan;
}

it.each([{ domain: 'd' }, { site_id: 's' }, { name: 'n' }, { domain: 'd', site_id: 's', status: 'active' }])(
  'a list of %o reads the few installs, not the account in its order',
  async (filters) => {
    const plan = await planOf(filters, 1);
    expect(plan).not.toEqual([]);
    expect(plan.filter((step) => /installs_account|SCAN (?!install$|few)/.test(step))).toEqual([]);
  },
);

it.each([{}, { status: 'active' }, { environment: 'staging' }])(
  'a page of %o is read from an index, in the order of the list',
  async (filters) => {
    const plan = await planOf(filters, 90_000);
    expect(plan).toContainEqual(expect.stringMatching(/INDEX installs_account/));
    expect(plan.filter((step) => step.startsWith('SCAN'))).toEqual([]);
  },
);

it.each([{ status: 'failed' }, { environment: 'staging' }, { status: 'failed', environment: 'staging' }])(
  'a list of %o finds few installs by their values, and sorts them',
  async (filters) => {
    const plan = await planOf(filters, 100);
    expect(plan).toContainEqual(
      expect.stringMatching(/INDEX installs_account_(status|environment) \(account_id=\? AND/),
    );
    expect(plan.filter((step) => /^SCAN (?!install$)/.test(step))).toEqual([]);
  },
);

it.each([
  ['the first page', {}],
  ['a later page', { cursor: { position: { value: '', seq: 7, isBefore: false } } }],
  ['an earlier page', { cursor: { position: { value: '', seq: 7, isBefore: true } } }],
])('of few installs, %s reads only its own', async (_, asked) => {
  for (const filters of [
    { status: 'failed' },
    { environment: 'staging' },
    { status: 'failed', environment: 'staging' },
  ]) {
    const plan = await planOf(filters, 100, asked);
    expect(plan).toContainEqual(
      expect.stringMatching(/COVERING INDEX installs_account_(status|environment) \(account_id=\? AND/),
    );
    expect(plan.filter((step) => /MATERIALIZE|INDEX installs_account \(/.test(step))).toEqual([]);
  }
});

it('few installs are sorted by another column after they were read', async () => {
  const plan = await planOf({ status: 'failed' }, 100, { sort: { key: 'name', isDescending: false } });
  expect(plan).toContainEqual(expect.stringMatching(/INDEX installs_account_status \(account_id=\? AND/));
});
