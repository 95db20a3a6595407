import { hash } from 'node:crypto';
import type { EdgeRoute } from '../../hosting/contract/edge-routes.ts';
import type { PlacedName } from './edge-routes-store.ts';

/** The routes to these names, one for each install. Names of an install follow each other. */
export function routesOf(names: readonly PlacedName[]): Map<string, EdgeRoute> {
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
  names: readonly Pick<PlacedName, 'name'>[],
): EdgeRoute {
  const named = hostId === null ? [] : names.map(({ name }) => ({ name }));
  return { installId, hostId, names: named, digest: hash('sha256', JSON.stringify([hostId, named]), 'hex') };
}

/** What a host must be told so that it has exactly the wanted routes. `held`: the digests of those that it has, by install. */
export function routeChanges(
  wanted: ReadonlyMap<string, EdgeRoute>,
  held: ReadonlyMap<string, string>,
): EdgeRoute[] {
  const news = [...wanted.values()].filter(({ installId, digest }) => held.get(installId) !== digest);
  const gone = [...held.keys()].filter((installId) => !wanted.has(installId));
  return [...news, ...gone.map((installId) => routeOf(installId, null, []))];
}
