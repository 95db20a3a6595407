import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { SQLITE_FILE } from '../database/open.ts';
import { wideReads } from '../database/wide-reads.fixture.ts';
import { everyList, GROWING, REFUSED } from './every-list.fixture.ts';

// Runs every list with every filter and every order that its route declares, and looks how SQLite would find the rows. The stored counts
// say that the account has 100,000 installs. Plans need no rows, because no database of Homeport has statistics.

const INSTALLS = 100_000;

let homeport: TestHomeport;
let owner: Person;
let ids: Record<string, string>;
const prepared = new Set<string>();

beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  const made = await homeport.ownedAccount();
  owner = made.owner;
  const { accountId: account_id } = made;
  const [site_id, install_id, webhook_id] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
  ids = { account_id, site_id, install_id, webhook_id, user_id: owner.userId };
  const created_at = '2026-01-01T00:00:00.000Z';
  await homeport.platform.database.write(async ({ queries }) => {
    await queries.insertInto('sites').values({ id: site_id, account_id, name: 'Shop', created_at }).execute();
    const install = {
      ...({ account_id, site_id, environment: 'production', status: 'active', created_at } as const),
      ...{ php_version: null, stable_ips: null, offload_file_name: 'a', offload_file_content: 'b' },
    };
    // As many as a page has: with the id of one install, SQLite would find it at once.
    const others = Array.from({ length: 60 }, (_, index) => ({
      ...{ ...install, id: crypto.randomUUID(), name: `shop${index}` },
      ...{ site_id: null, environment: null },
    }));
    await queries
      .insertInto('installs')
      .values([{ ...install, id: install_id, name: 'shop' }, ...others])
      .execute();
    await queries
      .insertInto('webhooks')
      .values({
        ...{ id: webhook_id, account_id, url: 'https://hooks.example', description: '', created_at },
        ...{ event_types: null, install_ids: null, sealed_secret: 'a', updated_at: created_at },
      })
      .execute();
    await queries.updateTable('accounts').set({ install_count: INSTALLS, site_count: INSTALLS }).execute();
    await queries
      .updateTable('install_counts')
      .set({ installs: INSTALLS * 0.9 })
      .execute();
    const counted = { account_id, status: 'failed', environment: 'staging', is_waiting: false } as const;
    await queries
      .insertInto('install_counts')
      .values([
        { ...counted, installs: 50 },
        { ...counted, status: 'active', is_waiting: true, installs: INSTALLS * 0.1 - 50 },
      ])
      .execute();
  });
  const { prepare } = Sqlite.prototype;
  vi.spyOn(Sqlite.prototype, 'prepare').mockImplementation(function (this: Sqlite.Database, text: string) {
    prepared.add(text);
    return prepare.call(this, text);
  });
});
afterAll(async () => {
  vi.restoreAllMocks();
  await homeport?.remove();
});

it('no list reads more in a larger account, except those that are known', { timeout: 60_000 }, async () => {
  const database = new Sqlite(`${homeport.config.dataDir}/${SQLITE_FILE}`, { readonly: true });
  const growing = new Map<string, string[]>();
  const refused = new Set<string>();
  let seen = 0;
  prepared.clear();
  for await (const { operationId, parameter, query: text, isAnswered, isList } of everyList(
    homeport,
    owner,
    ids,
  )) {
    if (isList && !isAnswered) refused.add(operationId);
    for (const query of [...prepared].filter((one) => /^(select|with) /.test(one))) {
      seen += 1;
      const reads = wideReads(database, query);
      const key = operationId in GROWING ? operationId : `${operationId}${parameter ? `?${parameter}` : ''}`;
      if (reads.length > 0) growing.set(key, [...(growing.get(key) ?? []), `${text}: ${reads.join(', ')}`]);
    }
    prepared.clear();
  }
  database.close();
  expect(seen).toBeGreaterThan(100);
  expect([...refused].sort()).toEqual(Object.keys(REFUSED).sort());
  expect([...growing].filter(([key]) => !(key in GROWING))).toEqual([]);
  expect(Object.keys(GROWING).filter((key) => !growing.has(key))).toEqual([]);
});
