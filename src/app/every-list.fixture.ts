import type { Caller } from '../access/caller.ts';
import type { IncomingCall, Route } from '../api/route.ts';
import type { RunningHomeport } from './homeport.ts';
import { apiRoutes, portalRoutes } from './routes.ts';

/** Lists that read more in a larger account, and why. A list that no longer does must be taken out. */
export const GROWING: Record<string, string> = {
  'listSites?tags': 'tags are texts of the sites',
  'listInstalls?tags': 'tags are texts of the sites',
  'listAccountWordPress?tags': 'tags are texts of the sites',
  'getAccountUsageMetrics?tags': 'tags are texts of the sites',
  getAccountUsageSummary: 'adds the figures of all installs',
  getAccountUsageInsights: 'adds the figures of all installs',
  listNotifications: 'counts the notifications of a user, 1,000 at most',
  'listInstallsOfAccount?search': 'looks for parts of names',
  'listInstallsOfAccount?status': 'looks whether each install needs attention',
  'listInstallsOfAccount?site': 'counts the installs without a site',
  'listInstallsOfAccount?tags': 'tags are texts of the sites',
  'listInstallsOfAccount?sort': 'sorts by values other than the name and the creation',
  'listSitesOfAccount?search': 'looks for parts of names',
  'listSitesOfAccount?sort': 'counts the installs of each site to sort by their number',
};

/** Lists that are refused in the tests, and why. Their queries are not seen. */
export const REFUSED: Record<string, string> = {
  listBackupFiles: 'there is no such backup',
  listBackupTables: 'there is no such backup',
  listAccessLog: 'no host answers',
  listPhpLog: 'no host answers',
  listCronLog: 'no host answers',
  listMailLog: 'no host answers',
  getOperation: 'there is no operation',
  exportActivity: 'answers a session alone, with all activity in parts',
};

/** One request that was answered or refused. */
export interface ListRequest {
  operationId: string;
  /** The parameter that it has; null without one. */
  parameter: string | null;
  query: string;
  isAnswered: boolean;
}

/** A server whose lists are requested. */
type Listing = Pick<RunningHomeport, 'platform' | 'services'> & { origin: string };

/** Requests every list without parameters, and with each value of each parameter that its route declares. */
export async function* everyList(
  homeport: Listing,
  owner: { userId: string },
  ids: Record<string, string>,
): AsyncGenerator<ListRequest> {
  const routes = [...apiRoutes(homeport.platform, homeport.services), ...portalRoutes(homeport.services)];
  for (const route of routes) {
    const { method, isPaged, query, operationId } = route;
    if (method !== 'GET' || !(isPaged || query.length > 0)) continue;
    for (const { parameter, text } of variants(route, ids)) {
      const isAnswered = await answers(homeport, owner, ids, route, text);
      yield { operationId, parameter, query: text, isAnswered };
    }
  }
}

function* variants(
  { query }: Route,
  ids: Record<string, string>,
): Generator<{ parameter: string | null; text: string }> {
  yield { parameter: null, text: '' };
  for (const { name, schema, example } of query) {
    const words: unknown = Reflect.get(schema, 'enum');
    const values: unknown[] = Array.isArray(words) ? words : [ids[name] ?? example ?? 'a'];
    for (const value of values)
      yield { parameter: name, text: `?${new URLSearchParams({ [name]: String(value) })}` };
  }
}

function answers(
  homeport: Listing,
  owner: { userId: string },
  ids: Record<string, string>,
  route: Route,
  query: string,
): Promise<boolean> {
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
