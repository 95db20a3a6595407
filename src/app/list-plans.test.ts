import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type Person, startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import type { Caller } from '../access/caller.ts';
import type { IncomingCall, Route } from '../api/route.ts';
import { SQLITE_FILE } from '../database/open.ts';
import { wideReads } from '../database/wide-reads.fixture.ts';
import { apiRoutes, portalRoutes } from './routes.ts';

// Runs every list with every filter and every order that its route declares, and looks how SQLite would find the rows. The stored counts
// say that the account has 100,000 installs. Plans need no rows, because no database of Homeport has statistics.

const INSTALLS = 100_000;

/** Lists that read more in a larger account, and why. A list that no longer does must be taken out. */
const GROWING: Record<string, string> = {
  'listSites?tags': 'tags are texts of the sites',
  'listInstalls?tags': 'tags are texts of the sites',
  'listAccountWordPress?tags': 'tags are texts of the sites',
  'getAccountUsageMetrics?tags': 'tags are texts of the sites',
  getAccountUsageSummary: 'adds the figures of all installs',
  getAccountUsageInsights: 'adds the figures of all installs',
  listOperations: 'counts the operations of 30 days',
  listActivity: 'counts the activity of a year',
  listNotifications: 'counts the notifications of a user, 1,000 at most',
  listAccountIncidents: 'reads the incidents of each install',
  search: 'looks for parts of names',
  listInstallsOfAccount: 'sorts names by their numbers',
  listSitesOfAccount: 'sorts names by their numbers',
};

/** Lists that are refused here, and why. Their queries are not seen. */
const REFUSED: Record<string, string> = {
  listBackupFiles: 'there is no backup',
  listBackupTables: 'there is no backup',
  listAccessLog: 'no host answers',
  listPhpLog: 'no host answers',
  listCronLog: 'no host answers',
  listMailLog: 'no host answers',
  getOperation: 'there is no operation',
  exportActivity: 'answers a session alone, with all activity in parts',
};

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
    await queries
      .insertInto('installs')
      .values({
        ...{ id: install_id, account_id, site_id, environment: 'production', name: 'shop', status: 'active' },
        ...{ php_version: null, stable_ips: null, offload_file_name: 'a', offload_file_content: 'b' },
        created_at,
      })
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

/** The queries of a list: without parameters, and with each value of each of them. */
function* variants({ query }: Route): Generator<{ name: string | null; text: string }> {
  yield { name: null, text: '' };
  for (const { name, schema, example } of query) {
    const words: unknown = Reflect.get(schema, 'enum');
    const values: unknown[] = Array.isArray(words) ? words : [ids[name] ?? example ?? 'a'];
    for (const value of values) yield { name, text: `?${new URLSearchParams({ [name]: String(value) })}` };
  }
}

/** Answers a request. Whether it was not refused. */
async function isAnswered(route: Route, query: string): Promise<boolean> {
  const caller: Caller = {
    userId: owner.userId,
    limits: null,
    origin: { means: 'api', credentialId: null, address: null, requestId: null },
  };
  const names = [...route.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const call: IncomingCall = {
    caller,
    session: null,
    visitor: { address: '127.0.0.1', userAgent: null, device: null, passkeyBrowser: null },
    cookies: { set: () => {}, setDevice: () => {}, setPasskeyBrowser: () => {}, clear: () => {} },
    params: Object.fromEntries(names.map((name) => [name, ids[name] ?? crypto.randomUUID()])),
    target: `${route.path}${query}`,
    body: undefined,
    requestId: 'a',
    reauthenticate: async () => caller,
    wantsEvents: false,
    lastEventId: null,
    disconnected: () => AbortSignal.abort(),
  };
  return route.run(call, homeport.origin).then(
    () => true,
    () => false,
  );
}

it('no list reads more in a larger account, except those that are known', { timeout: 60_000 }, async () => {
  const routes = [...apiRoutes(homeport.platform, homeport.services), ...portalRoutes(homeport.services)];
  const lists = routes.filter(
    ({ method, isPaged, query }) => method === 'GET' && (isPaged || query.length > 0),
  );
  const database = new Sqlite(`${homeport.config.dataDir}/${SQLITE_FILE}`, { readonly: true });
  const growing = new Map<string, string[]>();
  const refused = new Set<string>();
  let seen = 0;
  for (const route of lists) {
    for (const { name, text } of variants(route)) {
      prepared.clear();
      if (!(await isAnswered(route, text))) refused.add(route.operationId);
      for (const query of [...prepared].filter((one) => /^(select|with) /.test(one))) {
        seen += 1;
        const reads = wideReads(database, query);
        const key =
          route.operationId in GROWING ? route.operationId : `${route.operationId}${name ? `?${name}` : ''}`;
        if (reads.length > 0) growing.set(key, [...(growing.get(key) ?? []), `${text}: ${reads.join(', ')}`]);
      }
    }
  }
  database.close();
  expect(seen).toBeGreaterThan(100);
  expect([...refused].sort()).toEqual(Object.keys(REFUSED).sort());
  expect([...growing].filter(([key]) => !(key in GROWING))).toEqual([]);
  expect(Object.keys(GROWING).filter((key) => !growing.has(key))).toEqual([]);
});
