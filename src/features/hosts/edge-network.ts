import { lookup } from 'node:dns/promises';
import { requireNotMoved } from '../../database/to-postgres/moved-mark.ts';
import type { OtherEdge, RoutedName } from '../../hosting/contract/edge-routes.ts';
import { PermanentHostError } from '../../hosting/contract/errors.ts';
import type { HostDescription, HostMachine } from '../../hosting/contract/host.ts';
import { HostUnreachableError } from '../../hosting/remote/client.ts';
import { certificateFingerprint, createEdgeIdentity } from '../../hosting/remote/edge-identity.ts';
import { type Repetition, repeatEvery, serializeByKey } from '../../lib/concurrency.ts';
import { DAY_MS, HOUR_MS } from '../../lib/durations.ts';
import type { Platform } from '../../platform/platform.ts';
import { edgeAuthority } from './authority.ts';
import type { Connections } from './connections.ts';
import { createEdgeAddressBook } from './edge-address-book.ts';
import { batchesOf, type PlannedRoute, routeChanges, routeOf, routesOf } from './edge-routes.ts';
import { certificatesOfNames, namesElsewhere, namesOfInstall, platformIdOf } from './edge-routes-store.ts';
import { isMember, type Lookup, otherEdges, rememberingLookup } from './other-edges.ts';
import { createHostService } from './service.ts';
import { shareHostKey } from './shared-host-key.ts';
import { allHosts, findHost, type KnownHost } from './store.ts';

/** Keeps every edge informed of the websites that other hosts serve, so that each can take requests for all. */
export interface EdgeNetwork {
  /** Compares every host that answers with the database now, when it answers again, when an edge changes, and every hour. */
  start(): { stop(): Promise<void> };
  /** A host belongs to this platform, perhaps only now: its edge need not wait for the next look. Does not wait. */
  claimed(hostId: string): void;
  /** Tells the other hosts where an install is served now. Does not wait; a host that does not hear of it is told later. */
  announce(installId: string): void;
  /**
   * Makes the edge of the host `at` forward the names of an install to that of `to`. Once this resolves, it does so as soon as it does not
   * serve them itself. The database decides again at the next comparison, so call it when the database has the new host. Rejects with a
   * PermanentHostError if one of the hosts cannot forward, with a HostUnreachableError if `at` does not answer.
   */
  forward(installId: string, way: { at: string; to: string }): Promise<void>;
  /** Resolves once everything that was announced is told, as far as hosts answer. */
  settled(): Promise<void>;
}

export interface EdgeNetworkOptions {
  /** Milliseconds between looks for changed edges; 30 s by default. */
  lookEveryMs?: number | undefined;
  /** Finds the address of a host name. */
  lookUp?: Lookup | undefined;
}

const LOOK_EVERY_MS = 30_000;
/** At a host during one comparison. */
const MOST_LOOKS = 3;
/** Routes that a host refuses during one comparison before it ends. The host takes none then, for another reason than a route. */
const MOST_REFUSED = 20;
/** Identities of edges are renewed this long before they end. */
const RENEW_BEFORE_MS = 365 * DAY_MS;

type Reached = Pick<Connections, 'machine' | 'met' | 'onMet'>;

export function createEdgeNetwork(
  platform: Platform,
  connections: Reached,
  { lookEveryMs = LOOK_EVERY_MS, lookUp = lookup }: EdgeNetworkOptions = {},
): EdgeNetwork {
  const { config, database, sealer, clock, log } = platform;
  const { reader } = database;
  const { ofHost } = createEdgeAddressBook(config);
  const remembered = rememberingLookup(lookUp);
  const serially = serializeByKey();
  const running = new Set<Promise<void>>();
  /** The other edges that each host got last, and the time of its last comparison. */
  const compared = new Map<string, { others: string; atMs: number }>();

  const othersOf = (host: KnownHost, hosts: readonly KnownHost[]) =>
    otherEdges(host, hosts, { ofHost, lookUp: remembered });

  function follow(work: Promise<void>, about: object, failure: string): void {
    const followed = work
      .catch((err: unknown) => log.warn({ err, ...about }, failure))
      .finally(() => running.delete(followed));
    running.add(followed);
  }

  /** Hosts of earlier versions, of other platforms, those that were given up, and the only host of a platform have nothing to do with other edges. */
  async function participants(): Promise<KnownHost[]> {
    const platformId = await platformIdOf(reader);
    const able = (await allHosts(reader)).filter(
      ({ description, lost_at }) =>
        lost_at === null && description?.forwarding !== undefined && description.platform === platformId,
    );
    // One that is alone now refuses the edges of removed hosts.
    return able.length > 1 ? able : able.filter(isMember);
  }

  /** Sends routes with the certificates of their names. */
  async function send(machine: HostMachine, routes: PlannedRoute[]): Promise<void> {
    const installs = routes.filter(({ names }) => names.length > 0).map(({ installId }) => installId);
    const rows = installs.length === 0 ? [] : await certificatesOfNames(reader, installs);
    const certificates = new Map(rows.map((row) => [row.name, row]));
    const whole = (name: string): RoutedName => {
      const found = certificates.get(name);
      const certificate = found ? { chain: found.chain, key: sealer.open(found.sealed_key) } : null;
      return { name, certificate };
    };
    await machine.setRoutes(routes.map((route) => ({ ...route, names: route.names.map(whole) })));
  }

  /** Sends many routes. Those that cannot be sent, or that the host refuses, are logged and cost the others nothing. */
  async function sendAll(machine: HostMachine, hostId: string, routes: PlannedRoute[]): Promise<void> {
    let refused = 0;
    const sendAlone = async (route: PlannedRoute) => {
      try {
        await send(machine, [route]);
      } catch (err) {
        refused += 1;
        if (err instanceof HostUnreachableError || refused > MOST_REFUSED) throw err;
        const about = { err, host: hostId, install: route.installId };
        log.error(about, 'could not tell a host where a website is served; will retry within an hour');
      }
    };
    for (const batch of batchesOf(routes)) {
      try {
        await send(machine, batch);
      } catch (error) {
        if (error instanceof HostUnreachableError) throw error;
        for (const route of batch) await sendAlone(route);
      }
    }
  }

  /** The present description of a host, which says whether it needs an identity. */
  async function identityFor({ id, forwarding }: HostDescription) {
    if (forwarding === undefined) throw new PermanentHostError('the host cannot forward requests');
    const authority = await edgeAuthority(platform);
    const { identity } = forwarding;
    const isCurrent =
      identity !== null &&
      identity.authority === certificateFingerprint(authority.certificate) &&
      Date.parse(identity.notAfter) - clock.now().getTime() > RENEW_BEFORE_MS;
    return isCurrent ? null : createEdgeIdentity(authority, id, clock.now());
  }

  async function join(hostId: string, others: OtherEdge[]): Promise<HostMachine> {
    const machine = await connections.machine(hostId);
    const identity = await identityFor(await machine.describe());
    await machine.joinEdges(identity, others);
    if (identity === null) return machine;
    await createHostService(platform).note(await machine.describe());
    follow(look(), { host: hostId }, 'could not tell the other hosts of a new edge; will retry');
    return machine;
  }

  /**
   * Makes a host know exactly the present edges, and returns them. Another process may know newer ones and have told it before, so that it
   * looks again afterwards. Null if the host does not take part.
   */
  async function joinPresent(hostId: string) {
    for (let told: string | null = null; ; ) {
      const hosts = await participants();
      const host = hosts.find(({ id }) => id === hostId);
      if (host === undefined) return null;
      const others = await othersOf(host, hosts);
      const text = JSON.stringify(others);
      if (text === told) return { others, machine: await connections.machine(hostId) };
      await join(hostId, others);
      told = text;
    }
  }

  /** Sends a host the routes that differ from those that it should have. False if none did. */
  async function correct(machine: HostMachine, hostId: string, others: readonly OtherEdge[]) {
    const held = new Map<string, string>();
    for (let after: string | null = null; ; ) {
      const page: Awaited<ReturnType<HostMachine['heldRoutes']>> = await machine.heldRoutes(after);
      for (const { installId, digest } of page) held.set(installId, digest);
      after = page.at(-1)?.installId ?? null;
      if (after === null) break;
    }
    const reachable = new Set(others.map((other) => other.hostId));
    const wanted = routesOf(
      (await namesElsewhere(reader, hostId)).filter((name) => reachable.has(name.hostId)),
    );
    const changes = routeChanges(wanted, held);
    await sendAll(machine, hostId, changes);
    return changes.length > 0;
  }

  /**
   * Makes a host know exactly the present edges and routes. Looks again after a change, because another process may have known a newer route and sent
   * it before. A host that keeps no route must not keep this busy.
   */
  async function compare(hostId: string): Promise<void> {
    await requireNotMoved(database);
    const joined = await joinPresent(hostId);
    if (joined === null) return;
    const { others, machine } = joined;
    for (let look = 0; look < MOST_LOOKS && (await correct(machine, hostId, others)); look++);
    compared.set(hostId, { others: JSON.stringify(others), atMs: clock.now().getTime() });
  }

  async function shareKey(hostId: string): Promise<void> {
    const hosts = await participants();
    if (!hosts.some(({ id }) => id === hostId)) return;
    await shareHostKey(platform, await connections.machine(hostId), hosts[0]?.id === hostId);
  }

  function compareLater(hostId: string): void {
    const work = serially(hostId, () => compare(hostId));
    follow(work, { host: hostId }, 'could not tell a host of the websites on other hosts; will retry');
    const sharing = serially(hostId, () => shareKey(hostId));
    follow(sharing, { host: hostId }, 'could not give a host the SSH host key of all hosts; will retry');
  }

  /** Compares the hosts without an identity, those whose other edges have changed, those that missed something, and all of them every hour. */
  async function look(): Promise<void> {
    const hosts = await participants();
    const met = new Set(connections.met());
    for (const host of hosts.filter(({ id }) => met.has(id))) {
      const last = compared.get(host.id);
      const isRecent = isMember(host) && last !== undefined && clock.now().getTime() - last.atMs < HOUR_MS;
      if (!isRecent || last.others !== JSON.stringify(await othersOf(host, hosts))) compareLater(host.id);
    }
  }

  /** Another process may know a newer route and have told it before, so that this looks again afterwards. */
  async function tell(host: KnownHost, hosts: readonly KnownHost[], installId: string): Promise<void> {
    try {
      const machine = await connections.machine(host.id);
      for (let told: string | null = null; ; ) {
        const names = await namesOfInstall(reader, installId, host.id);
        const hostId = names[0]?.hostId ?? null;
        // Whatever its address is: without one, the edge takes the route for none.
        const isElsewhere = hosts.some((other) => other.id === hostId && other !== host && isMember(other));
        const route = routeOf(installId, isElsewhere ? hostId : null, names);
        if (route.digest === told) return;
        await send(machine, [route]);
        told = route.digest;
      }
    } catch (error) {
      // The next look compares it.
      compared.delete(host.id);
      throw error;
    }
  }

  return {
    start() {
      const unsubscribe = connections.onMet(compareLater);
      const looks: Repetition = repeatEvery(look, {
        delayMs: lookEveryMs,
        onError: (err) => log.error({ err }, 'could not look for changed edges'),
      });
      return {
        async stop() {
          unsubscribe();
          await looks.stop();
          while (running.size > 0) await Promise.all(running);
        },
      };
    },

    claimed(hostId) {
      const work = async () => {
        const present = await findHost(reader, { id: hostId });
        if (present?.description?.forwarding === undefined) return;
        if (present.description.platform === (await platformIdOf(reader))) return;
        const machine = await connections.machine(hostId);
        await createHostService(platform).note(await machine.describe());
        await look();
      };
      follow(work(), { host: hostId }, 'could not take in the edge of a new host; will retry');
    },

    announce(installId) {
      const work = async () => {
        const hosts = await participants();
        for (const host of hosts.filter(isMember)) {
          follow(
            serially(host.id, () => tell(host, hosts, installId)),
            { host: host.id, install: installId },
            'could not tell a host where a website is served; will retry',
          );
        }
      };
      follow(work(), { install: installId }, 'could not tell the hosts where a website is served');
    },

    forward: (installId, { at, to }) =>
      serially(at, async () => {
        const hosts = await participants();
        const host = hosts.find(({ id }) => id === at);
        const others = host === undefined ? [] : await othersOf(host, hosts);
        if (!others.some(({ hostId }) => hostId === to)) {
          throw new PermanentHostError(
            'The edge of one host cannot forward requests to that of the other: see "homeport doctor".',
          );
        }
        const machine = await join(at, others);
        await send(machine, [routeOf(installId, to, await namesOfInstall(reader, installId, at))]);
      }),

    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}
