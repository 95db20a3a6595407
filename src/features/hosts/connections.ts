import { setTimeout as sleep } from 'node:timers/promises';
import { PermanentHostError } from '../../hosting/contract/errors.ts';
import type { HostDescription } from '../../hosting/contract/host.ts';
import type { HostQuestions } from '../../hosting/contract/questions.ts';
import { HostUnreachableError, type RemoteHost } from '../../hosting/remote/client.ts';
import type { HostTarget } from '../../hosting/remote/host-target.ts';
import { timestamp } from '../../lib/clock.ts';
import { singleFlight } from '../../lib/concurrency.ts';
import { messageOf } from '../../lib/error-message.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Platform } from '../../platform/platform.ts';
import { isLocalAddress } from './local-address.ts';
import { serveNothing } from './serve-nothing.ts';
import { createHostService } from './service.ts';
import { allHosts, findHost, findLoss, type KnownHost, noteSilence, updateHost } from './store.ts';

export type Connect = (target: HostTarget) => RemoteHost;

/** This process's connections to all hosts. */
export interface Connections {
  /** Connects to every host that answers soon. Throws OperatorError if no host is registered. */
  start(): Promise<void>;
  /**
   * Requests and stores each host's status, connects to new hosts, and drops removed ones. Does not wait for a slow
   * host; its answer is stored when it comes.
   */
  refresh(): Promise<void>;
  /**
   * Rejects with a PermanentHostError for a removed host, with a HostUnreachableError for a socket on another machine and for a host that was
   * given up.
   */
  machine(hostId: string): Promise<RemoteHost>;
  isKnown(hostId: string): Promise<boolean>;
  /** The ids of the hosts that answered the last status check. */
  met(): string[];
  /** Calls back with each host that answers, including those that do already. Returns the unsubscribe function. */
  onMet(listener: (hostId: string) => void): () => void;
  ports(): HostDescription['ports'] | null;
  close(): Promise<void>;
}

export interface ConnectionsOptions {
  connect: Connect;
  /** Answers the questions of the host of that id. */
  questionsOf: (hostId: string) => HostQuestions;
  /** How long one slow host can delay a status check of all, in milliseconds; 5 s by default. */
  patienceMs?: number;
}

const PATIENCE_MS = 5_000;

export function createConnections(platform: Platform, options: ConnectionsOptions): Connections {
  const { connect, questionsOf, patienceMs = PATIENCE_MS } = options;
  const { database, clock, log } = platform;
  const { reader } = database;
  const hosts = createHostService(platform);
  /** By host id. The local host is among them once it has sent its id. */
  const machines = new Map<string, RemoteHost>();
  /** Why hosts do not answer, so that each reason is logged once. */
  const faults = new Map<string, string>();
  const met = new Set<string>();
  const listeners = new Set<(hostId: string) => void>();
  let local = connect(hosts.localTarget);
  let localId: string | null = null;
  let ports: HostDescription['ports'] | null = null;
  let isClosing = false;

  /** Asks the host at this machine's socket for its description. Rejects if nothing listens there. */
  const meetLocal = singleFlight(async () => {
    const description = await local.describe();
    if (description.id !== localId) {
      await hosts.registerLocal(description);
      if (localId !== null) {
        // Another host now answers on the socket; it must learn nothing about the earlier one's installs.
        machines.delete(localId);
        await local.close();
        local = connect(hosts.localTarget);
      }
      localId = description.id;
      adopt(localId, local);
    }
    ports = description.ports;
    await noteWell(description);
  });

  function adopt(hostId: string, remote: RemoteHost): RemoteHost {
    machines.set(hostId, remote);
    remote.answer(questionsOf(hostId), (err) => {
      log.warn({ err, host: hostId }, 'cannot answer the questions of a host; will retry');
    });
    return remote;
  }

  async function machine(hostId: string): Promise<RemoteHost> {
    const loss = await findLoss(reader, hostId);
    // Its jobs go on when the install is elsewhere, or the host is taken back.
    if (loss !== undefined && loss.lost_at !== null) throw givenUp(loss.name);
    const present = machines.get(hostId);
    if (present) return present;
    const host = await findHost(reader, { id: hostId });
    if (!host) throw new PermanentHostError('The host that the install is on was removed');
    if (isLocalAddress(host.address)) {
      await meetLocal();
      const met = machines.get(hostId);
      if (met) return met;
      throw new HostUnreachableError(
        `The host ${host.name} is not the one at ${host.address} on this machine. On another machine it is reached only ` +
          'if it was added there by its address ("homeport host add").',
        { isUnsent: true },
      );
    }
    const target = await hosts.targetOf(host);
    if (isClosing)
      throw new HostUnreachableError('The connections to the hosts are being closed', { isUnsent: true });
    // Another call may have connected in the meantime.
    return machines.get(hostId) ?? adopt(hostId, connect(target));
  }

  /** Status checks in progress, by host id: a slow host gets no second request. */
  const looks = new Map<string, Promise<void>>();

  const refresh = singleFlight(async () => {
    const known = await allHosts(reader);
    await closeEnded(known);
    const elsewhere = known.filter(({ id, address }) => id !== localId && !isLocalAddress(address));
    await Promise.all([
      patiently(LOCAL, lookAtLocal),
      ...elsewhere.map((host) => patiently(host.id, () => look(host))),
    ]);
    ports ??= known.find(({ description }) => description !== null)?.description?.ports ?? null;
  });

  /** Resolves once the check is done or has taken too long; the check itself continues. */
  async function patiently(id: string, work: () => Promise<void>): Promise<void> {
    let looking = looks.get(id);
    if (looking === undefined) {
      looking = work()
        .catch((err: unknown) => log.error({ err, host: id }, 'could not check a host'))
        .finally(() => looks.delete(id));
      looks.set(id, looking);
    }
    const enough = new AbortController();
    const patience = sleep(patienceMs, undefined, { signal: enough.signal }).catch(() => {});
    await Promise.race([looking, patience]);
    enough.abort();
  }

  /** Ends the connections to hosts that were removed or given up, with the commands that run there. */
  async function closeEnded(known: KnownHost[]): Promise<void> {
    for (const [id, remote] of machines) {
      if (known.some((host) => host.id === id && host.lost_at === null)) continue;
      // It may have connected since the rows were read.
      const present = await findLoss(reader, id);
      if (present !== undefined && present.lost_at === null) continue;
      machines.delete(id);
      met.delete(id);
      await remote.close();
      if (id === localId) {
        localId = null;
        local = connect(hosts.localTarget);
      }
    }
  }

  async function lookAtLocal(): Promise<void> {
    const fault = await meetLocal().then(
      () => null,
      (error: unknown) => error,
    );
    for (const host of await allHosts(reader)) {
      if (host.id !== localId && !isAtOurSocket(host)) continue;
      if (host.lost_at !== null) {
        if (fault === null && host.id === localId) await stopServing(host, local);
      } else if (fault !== null) await noteFault(host, fault);
      else if (host.id !== localId) await noteFault(host, new Error('Another host has taken its place'));
    }
  }

  function isAtOurSocket({ address }: KnownHost): boolean {
    return address === `unix:${hosts.localTarget.socket}`;
  }

  async function look(host: KnownHost): Promise<void> {
    if (host.lost_at !== null) return lookAtLost(host);
    try {
      const description = await (await machine(host.id)).describe();
      if (description.id !== host.id) throw new Error(`it identifies itself as the host ${description.id}`);
      await noteWell(description);
    } catch (error) {
      await noteFault(host, error);
    }
  }

  /** Over a connection of its own, which answers no questions. */
  async function lookAtLost(host: KnownHost): Promise<void> {
    met.delete(host.id);
    const remote = connect(await hosts.targetOf(host));
    try {
      await stopServing(host, remote);
    } finally {
      await remote.close();
    }
  }

  async function stopServing({ id, name }: KnownHost, remote: RemoteHost): Promise<void> {
    try {
      const stopped = await serveNothing(reader, remote, id);
      faults.delete(id);
      await database.write(({ queries }) => updateHost(queries, id, { seen_at: timestamp(clock) }));
      if (stopped > 0)
        log.warn(
          { host: name, websites: stopped },
          'a host that was given up answers; its websites were stopped',
        );
    } catch (error) {
      // It is not expected to answer.
      if (isClosing || error instanceof HostUnreachableError) return;
      const reason = messageOf(error);
      if (faults.get(id) === reason) return;
      faults.set(id, reason);
      log.error(
        { err: error, host: name },
        'a host that was given up answers, and its websites could not be stopped; will retry',
      );
    }
  }

  async function noteWell(description: HostDescription): Promise<void> {
    if (((await findLoss(reader, description.id))?.lost_at ?? null) !== null) {
      met.delete(description.id);
      return;
    }
    if (faults.delete(description.id)) log.info({ host: description.id }, 'a host answers again');
    await hosts.note(description);
    if (met.has(description.id)) return;
    met.add(description.id);
    for (const listener of listeners) listener(description.id);
  }

  async function noteFault({ id, name }: KnownHost, error: unknown): Promise<void> {
    // A connection that we closed is no failure of the host.
    if (isClosing) return;
    met.delete(id);
    const reason = messageOf(error);
    if (faults.get(id) === reason) return;
    faults.set(id, reason);
    log.warn({ err: error, host: name }, 'a host does not answer the status check');
    await database.write(({ queries }) => noteSilence(queries, id, reason));
  }

  return {
    async start() {
      if ((await allHosts(reader)).length === 0) {
        await meetLocal().catch((cause: unknown) => {
          if (!(cause instanceof HostUnreachableError)) throw cause;
          throw new OperatorError(
            `There is no host for the websites. ${cause.message} A host on another machine is added with "homeport host add".`,
            { cause },
          );
        });
      }
      await refresh();
    },
    refresh,
    machine,
    isKnown: async (hostId) => (await findHost(reader, { id: hostId })) !== undefined,
    met: () => [...met],
    onMet(listener) {
      listeners.add(listener);
      for (const hostId of met) listener(hostId);
      return () => listeners.delete(listener);
    },
    ports: () => ports,
    async close() {
      isClosing = true;
      await Promise.all([...new Set([local, ...machines.values()])].map((remote) => remote.close()));
      await Promise.all(looks.values());
    },
  };
}

function givenUp(name: string): HostUnreachableError {
  return new HostUnreachableError(`The host ${name} was given up as lost`, { isUnsent: true });
}

/** Key of the host at this machine's own socket, among the host ids. */
const LOCAL = 'local';
