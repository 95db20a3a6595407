import type { Logger } from 'pino';
import type { EdgeRoute, OtherEdge } from '../../contract/edge-routes.ts';
import { pageOf } from '../../contract/inventory.ts';
import { certificateId } from '../../policy/certificate-id.ts';
import { createNameClaims } from '../../policy/name-claims.ts';
import { createCertificateUses } from './certificate-uses.ts';
import { NoRoomError } from './control-client.ts';
import type { EdgeCertificates } from './edge-certificates.ts';
import type { TablePaths } from './edge-options.ts';
import { groupId } from './machine.ts';
import { WORKER_USER } from './machine-options.ts';
import { createRouteTable, type StoredRoute } from './route-table.ts';
import type { UntoldChanges } from './untold-changes.ts';

/** The routes to websites of other hosts. Calls must not overlap. */
export interface EdgeRoutes {
  /** Reads the routes, and makes the links of their names whole. */
  load(): Promise<void>;
  edges(): Promise<OtherEdge[]>;
  setEdges(others: readonly OtherEdge[]): Promise<void>;
  set(routes: readonly EdgeRoute[]): Promise<void>;
  /** Forgets all other edges, and all routes with the certificates that only they use. */
  clear(): Promise<void>;
  held(after: string | null): { installId: string; digest: string }[];
  /** The user names of the installs with a route. */
  users(): ReadonlySet<string>;
  /** Whether a route uses the certificate. */
  usesCertificate(id: string): boolean;
}

export interface EdgeRoutesOptions {
  paths: TablePaths;
  untold: UntoldChanges;
  certificates: EdgeCertificates;
  /** Whether a website of this host uses the certificate. */
  isServed(certificateId: string): boolean;
  log: Logger;
}

/** Of a route whose certificates could not be kept, so that the control plane sends it again. */
const INCOMPLETE = '0'.repeat(64);

export function createEdgeRoutes({
  paths,
  untold,
  certificates,
  isServed,
  log,
}: EdgeRoutesOptions): EdgeRoutes {
  const table = createRouteTable(paths);
  const claims = createNameClaims();
  const digests = new Map<string, string>();
  const uses = createCertificateUses();
  /** Of each install. */
  const users = new Map<string, string>();
  /** The install that the link of each name leads to. */
  let links = new Map<string, string>();

  function claim({ id, names, user }: StoredRoute): void {
    if (user === undefined) users.delete(id);
    else users.set(id, user);
    const ids = Object.values(names).flatMap(({ certificate }) => certificate ?? []);
    uses.set(id, [...new Set(ids)]);
    claims.set(
      id,
      Object.keys(names).map((name) => [name, false]),
    );
  }

  function forget(id: string): void {
    users.delete(id);
    uses.set(id, []);
    claims.delete(id);
  }

  const isHeld = (id: string) => digests.has(id) || claims.namesOf(id).length > 0;

  async function link(names: Iterable<string>): Promise<void> {
    let isChanged = false;
    for (const name of new Set(names)) {
      const holder = claims.holderOf(name);
      if (links.get(name) === holder) continue;
      isChanged = true;
      await table.names.setHolder(name, holder ?? null);
      if (holder === undefined) links.delete(name);
      else links.set(name, holder);
    }
    if (isChanged) await table.names.sync();
  }

  /** Returns the routes whose certificates nginx has no memory for. The others do not suffer from them. */
  async function addCertificates(added: readonly EdgeRoute[]): Promise<Set<EdgeRoute>> {
    const certificatesOf = ({ names }: EdgeRoute) => names.flatMap(({ certificate }) => certificate ?? []);
    const incomplete = new Set<EdgeRoute>();
    try {
      await certificates.add(added.flatMap(certificatesOf));
    } catch (error) {
      if (!(error instanceof NoRoomError)) throw error;
      for (const route of added) {
        await certificates.add(certificatesOf(route)).catch((err: unknown) => {
          if (!(err instanceof NoRoomError)) throw err;
          log.error(
            { err, install: route.installId },
            'a website of another host has its certificate there only',
          );
          incomplete.add(route);
        });
      }
    }
    return incomplete;
  }

  const held: EdgeRoutes['held'] = (after) =>
    pageOf(digests.keys(), after).map((installId) => ({ installId, digest: digests.get(installId) ?? '' }));

  async function setEdges(others: readonly OtherEdge[]): Promise<void> {
    // First: nginx must also hear of a part, such as an edge that was removed.
    untold.routes();
    await table.writeEdges(others);
  }

  /** A route and its certificates are there before a name leads to it. */
  async function set(routes: readonly EdgeRoute[]): Promise<void> {
    const news = routes.filter(({ installId, hostId, digest }) =>
      hostId === null ? isHeld(installId) : digests.get(installId) !== digest,
    );
    if (news.length === 0) return;
    untold.routes();
    const gone = news.filter(({ hostId }) => hostId === null).map(({ installId }) => installId);
    const before = news.flatMap(({ installId }) => claims.namesOf(installId));
    const former = news.flatMap(({ installId }) => uses.of(installId));
    const served = news.filter(({ hostId }) => hostId !== null);
    const incomplete = await addCertificates(served);
    const kept = served.flatMap(
      (route) => storedOf(incomplete.has(route) ? { ...route, digest: INCOMPLETE } : route) ?? [],
    );
    await table.writeRoutes(kept);
    for (const route of kept) claim(route);
    for (const id of gone) forget(id);
    await link([...before, ...kept.flatMap(({ names }) => Object.keys(names))]);
    await table.removeRoutes(gone);
    await certificates.remove([...new Set(former)].filter((id) => !uses.has(id) && !isServed(id)));
    // Last, so that a failed attempt is repeated.
    for (const { id, digest } of kept) digests.set(id, digest);
    for (const id of gone) digests.delete(id);
  }

  return {
    async load() {
      await table.prepare(await groupId(WORKER_USER));
      for (const id of digests.keys()) forget(id);
      digests.clear();
      for (const route of await table.routes()) {
        digests.set(route.id, route.digest);
        claim(route);
      }
      links = await table.names.holders();
      await link([...links.keys(), ...claims.names()]);
      untold.routes();
    },

    edges: () => table.edges(),

    setEdges,
    set,

    async clear() {
      await setEdges([]);
      for (let page = held(null); page.length > 0; page = held(null)) {
        await set(page.map((route) => ({ ...route, hostId: null, names: [] })));
      }
    },

    held,
    users: () => new Set(users.values()),
    usesCertificate: uses.has,
  };
}

function storedOf({ installId, hostId, names, digest, user }: EdgeRoute): StoredRoute | null {
  if (hostId === null) return null;
  const named = names.map(({ name, certificate }) => [
    name,
    { certificate: certificate === null ? null : certificateId(certificate) },
  ]);
  return {
    ...{ id: installId, hostId, digest, names: Object.fromEntries(named) },
    ...(user === undefined || user === null ? {} : { user }),
  };
}
