import { afterAll, beforeAll, expect, it } from 'vitest';
import { openTestDatabase } from '../../../../test/database.ts';
import type { Scope } from '../../../access/memberships.ts';
import type { PlacedPage, SortedRequest } from '../../../lib/page.ts';
import { type InstallSort, pageOfInstalls } from './list-store.ts';
import type { InstallView } from './store.ts';

const now = '2026-01-02T03:04:05.678Z';
const account_id = crypto.randomUUID();
/** So many that failed ones are few. */
const INSTALLS = 40;
/** The names of those that failed, in their order. */
const FAILED = ['i03', 'i13', 'i23', 'i33'];

let database: Awaited<ReturnType<typeof openTestDatabase>>;

beforeAll(async () => {
  database = await openTestDatabase();
  await database.write(async ({ queries }) => {
    await queries
      .insertInto('accounts')
      .values({ id: account_id, name: 'An account', install_count: INSTALLS, created_at: now })
      .execute();
    const rows = Array.from({ length: INSTALLS }, (_, index) => `i${String(index).padStart(2, '0')}`);
    await queries
      .insertInto('installs')
      .values(
        rows.map((name) => ({
          ...{ id: crypto.randomUUID(), account_id, site_id: null, environment: null, name, created_at: now },
          ...{ status: FAILED.includes(name) ? ('failed' as const) : ('active' as const), php_version: null },
          ...{ stable_ips: null, offload_file_name: 'a', offload_file_content: 'b' },
        })),
      )
      .execute();
  });
});
afterAll(() => database?.remove());

async function page(asked: Partial<SortedRequest<InstallSort>>): Promise<PlacedPage<InstallView>> {
  const member = {
    account_id,
    role: 'owner',
    billing: true,
    site_count: 0,
    install_count: INSTALLS,
  } as const;
  const scope: Scope = { userId: '', whole: [member], partial: [], installIds: null };
  const request = { limit: 3, offset: 0, sort: { key: null, isDescending: false }, cursor: null, ...asked };
  return pageOfInstalls(database.reader, scope, request, { status: 'failed' }, FAILED.length);
}

const names = ({ results }: PlacedPage<InstallView>) => results.map(({ name }) => name);

it.each([false, true])('pages few installs in their order (descending: %s)', async (isDescending) => {
  const ordered = isDescending ? FAILED.toReversed() : FAILED;
  const sort = { key: null, isDescending };
  expect(names(await page({ sort }))).toEqual(ordered.slice(0, 3));
  expect(names(await page({ sort, offset: 2 }))).toEqual(ordered.slice(2));
  const first = await page({ sort, cursor: { position: null } });
  expect(names(first)).toEqual(ordered.slice(0, 3));
  const second = await page({ sort, cursor: { position: first.next } });
  expect(names(second)).toEqual(ordered.slice(3));
  expect(second.next).toBeNull();
  expect(names(await page({ sort, cursor: { position: second.previous } }))).toEqual(ordered.slice(0, 3));
});

it('pages few installs by name', async () => {
  const sort = { key: 'name', isDescending: true } as const;
  expect(names(await page({ sort }))).toEqual(FAILED.toReversed().slice(0, 3));
});
