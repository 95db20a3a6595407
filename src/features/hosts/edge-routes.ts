import { hash } from 'node:crypto';
import { type EdgeRoute, MOST_ROUTES } from '../../hosting/contract/edge-routes.ts';
import type { PlacedName } from './edge-routes-store.ts';

/** A route before its certificates are read. */
export interface PlannedRoute extends Omit<EdgeRoute, 'names'> {
  names: string[];
}

/** The routes to these names, one for each install. Names of an install follow each other. */
export function routesOf(names: readonly PlacedName[]): Map<string, PlannedRoute> {
  const byInstall = new Map<string, PlacedName[]>();
  for (const name of names) {
    const own = byInstall.get(name.installId);
    if (own === undefined) byInstall.set(name.installId, [name]);
    else own.push(name);
  }
  return new Map(
    [...byInstall].map(([installId, own]) => [installId, routeOf(installId, own[0]?.hostId ?? null, own)]),
  );
}

/** The route to an install at a host; null: to none. */
export function routeOf(
  installId: string,
  hostId: string | null,
  names: readonly Pick<PlacedName, 'name' | 'certificate' | 'user'>[],
): PlannedRoute {
  const named = hostId === null ? [] : names;
  const user = named[0]?.user ?? null;
  const facts = [hostId, user, named.map(({ name, certificate }) => [name, certificate])];
  return {
    installId,
    hostId,
    user,
    names: named.map(({ name }) => name),
    digest: hash('sha256', JSON.stringify(facts), 'hex'),
  };
}

/** Changes that give a host exactly the wanted routes. `held`: the digests of those that it has, by install. */
export function routeChanges(
  wanted: ReadonlyMap<string, PlannedRoute>,
  held: ReadonlyMap<string, string>,
): PlannedRoute[] {
  const news = [...wanted.values()].filter(({ installId, digest }) => held.get(installId) !== digest);
  const gone = [...held.keys()].filter((installId) => !wanted.has(installId));
  return [...news, ...gone.map((installId) => routeOf(installId, null, []))];
}

/** Names of one message, which has up to 10 kB for each. */
const MOST_NAMES = 500;

/** The routes in parts that fit into a message. */
export function* batchesOf(routes: readonly PlannedRoute[]): Generator<PlannedRoute[]> {
  let batch: PlannedRoute[] = [];
  let names = 0;
  for (const route of routes) {
    if (batch.length === MOST_ROUTES || (batch.length > 0 && names + route.names.length > MOST_NAMES)) {
      yield batch;
      [batch, names] = [[], 0];
    }
    batch.push(route);
    names += route.names.length;
  }
  if (batch.length > 0) yield batch;
}
