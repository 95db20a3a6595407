import type { Caller } from '../access/caller.ts';
import type { IncomingCall, Route } from '../api/route.ts';
import type { RunningHomeport } from './homeport.ts';
import { apiRoutes, portalRoutes } from './routes.ts';

/** Lists that read more in a larger account, and why. A list that no longer does must be taken out. */
export const GROWING: Record<string, string> = {
  listNotifications: 'counts the notifications of a user, 1,000 at most',
};

/** Answers that read more in a larger account, but in parts of some milliseconds each. */
export const IN_PARTS: Record<string, string> = {
  'listInstallsOfAccount?search': 'compares all names',
  'listMatchingInstalls?search': 'compares all names',
  'listSitesOfAccount?search': 'compares all names',
  getAccountUsageSummary: 'adds the storage of all installs',
  getAccountUsageInsights: 'adds the figures of all installs',
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
  /** Whether it was answered. Reads of one thing that no one made are not expected to be. */
  isAnswered: boolean;
  /** Whether it is a list, or has parameters. */
  isList: boolean;
}

/** A server whose lists are requested. */
type Listing = Pick<RunningHomeport, 'platform' | 'services'> & { origin: string };

/** Requests everything that can be read, without parameters and with each value of each parameter that its route declares; `only` those operations. */
export async function* everyList(
  homeport: Listing,
  owner: { userId: string },
  ids: Record<string, string>,
  only: readonly string[] | null = null,
): AsyncGenerator<ListRequest> {
  const routes = [...apiRoutes(homeport.platform, homeport.services), ...portalRoutes(homeport.services)];
  for (const route of routes) {
    const { method, operationId, isPaged, query } = route;
    if (method !== 'GET' || only?.includes(operationId) === false) continue;
    for (const { parameter, text } of variants(route, ids)) {
      const isAnswered = await answers(homeport, owner, ids, route, text);
      yield { operationId, parameter, query: text, isAnswered, isList: isPaged || query.length > 0 };
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
    disconnected: () => new AbortController().signal,
  };
  return route.run(call, homeport.origin).then(
    () => true,
    () => false,
  );
}
