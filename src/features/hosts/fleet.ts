import { PermanentHostError } from '../../hosting/contract/errors.ts';
import type { Host, HostDescription, HostMachine } from '../../hosting/contract/host.ts';
import {
  type HostMethod,
  type HostMethods,
  methodsFor,
  type RoutedTo,
  routedTo,
} from '../../hosting/contract/host-methods.ts';
import type { InstallRef } from '../../hosting/contract/install-ref.ts';
import type { RemovedInstall } from '../../hosting/contract/install-state.ts';
import { HostUnreachableError } from '../../hosting/remote/client.ts';
import { type Repetition, repeatEvery } from '../../lib/concurrency.ts';
import type { Platform } from '../../platform/platform.ts';
import { type ConnectionsOptions, createConnections } from './connections.ts';
import { createEdgeNetwork, type EdgeNetwork, type EdgeNetworkOptions } from './edge-network.ts';
import { knownRestoreOptions } from './known-restore-options.ts';
import { placeInstall } from './placement.ts';
import { allHosts, findHost, freeFailed, hostServing, placeOf } from './store.ts';

/** All hosts as one: each call goes to the host of its install. */
export interface Fleet extends Host {
  /** The host of an install. Rejects with a {@link PermanentHostError} if it is on none. */
  machineOf(installId: string): Promise<HostMachine>;
  /** The host of that id. */
  machine(hostId: string): Promise<HostMachine>;
  /** The ids of the hosts that answered the last status check. */
  met(): string[];
  /**
   * Calls back with each host that answers, and again when one answers after an outage. Returns the unsubscribe
   * function.
   */
  onMet(listener: (hostId: string) => void): () => void;
  /** Requests for websites of other hosts. */
  edges: EdgeNetwork;
  /** Ports on which this machine's host, else the first host, serves websites; null until one is known. */
  ports(): HostDescription['ports'] | null;
}

export interface FleetOptions extends ConnectionsOptions {
  /** Rejects with a {@link PermanentHostError} if the host holds another website under the name of an install. */
  requireNameFree(hostId: string, install: InstallRef): Promise<void>;
  /** Milliseconds between status checks of the hosts; 30 s by default. */
  refreshMs?: number;
  edges?: EdgeNetworkOptions;
}

const REFRESH_MS = 30_000;

/**
 * `start` connects to all hosts, registers the one at this machine's socket, and throws an OperatorError if no host
 * is registered. It then answers the hosts' questions and records their status.
 */
export function createFleet(platform: Platform, options: FleetOptions): Fleet {
  const { database, log } = platform;
  const { reader } = database;
  const connections = createConnections(platform, options);
  const edges = createEdgeNetwork(platform, connections, {
    lookEveryMs: options.refreshMs,
    ...options.edges,
  });
  let refreshes: Repetition | undefined;

  /** Places an install. Retries once after a refresh: a host may have been added or have come back since the last one. */
  async function place(installId: string): Promise<string> {
    return placeInstall(platform, installId).catch(async () => {
      await connections.refresh();
      return placeInstall(platform, installId);
    });
  }

  async function machineOf(installId: string): Promise<HostMachine> {
    const place = await placeOf(reader, installId);
    if (!place) throw new PermanentHostError('The install no longer exists');
    if (place.hostId === null) throw new PermanentHostError('The install is not on any host');
    return connections.machine(place.hostId);
  }

  /** The host of a deleted install; null if it was on none, or its host is no longer registered. */
  async function keeperOf({ id, hostId = null }: RemovedInstall): Promise<HostMachine | null> {
    if (hostId === null) return null;
    if (await connections.isKnown(hostId)) return connections.machine(hostId);
    log.warn({ install: id, host: hostId }, 'the host of a deleted install is no longer registered');
    return null;
  }

  /** Calls all reachable hosts in parallel. Rejects if no host answers or if one refuses. */
  async function everywhere(work: (machine: HostMachine) => Promise<void>): Promise<void> {
    const answering = (await allHosts(reader)).filter(({ reason }) => reason === null);
    const outcomes = await Promise.allSettled(
      answering.map(async ({ id }) => work(await connections.machine(id))),
    );
    const faults = outcomes.flatMap((outcome): unknown[] =>
      outcome.status === 'rejected' ? [outcome.reason] : [],
    );
    const refusal = faults.find((fault) => !(fault instanceof HostUnreachableError));
    if (refusal !== undefined) throw refusal;
    if (faults.length === outcomes.length) throw faults[0] ?? new HostUnreachableError('No host answers');
    for (const err of faults) log.warn({ err }, 'skipped a host');
  }

  function toWebsite<Name extends RoutedTo<'website'>>(name: Name): HostMethod<Name> {
    return async (...args) => {
      const [{ id }] = args;
      const machine: Pick<HostMethods, RoutedTo<'website'>> = await machineOf(id);
      return machine[name](...args);
    };
  }

  const toKeeper = (name: RoutedTo<'keeper'>) => async (install: RemovedInstall) => {
    const machine = await keeperOf(install);
    await machine?.[name](install);
  };

  return {
    ...methodsFor(routedTo('website'), toWebsite),
    async start() {
      try {
        await connections.start();
      } catch (error) {
        await connections.close();
        throw error;
      }
      refreshes = repeatEvery(connections.refresh, {
        delayMs: options.refreshMs ?? REFRESH_MS,
        onError: (err) => log.error({ err }, 'could not check the hosts'),
      });
    },
    async stop() {
      await refreshes?.stop();
      await edges.settled();
      await connections.close();
    },
    machineOf,
    machine: connections.machine,
    met: connections.met,
    onMet: connections.onMet,
    ports: connections.ports,
    edges,

    async apply(state, signal) {
      const hostId = await place(state.id);
      await options.requireNameFree(hostId, state);
      const machine = await connections.machine(hostId);
      const host = await findHost(reader, { id: hostId });
      const applied = await machine.apply(
        host?.description?.keepsLost ? state : { ...state, isMade: false },
        signal,
      );
      edges.announce(state.id);
      return applied;
    },

    async makeForRestore(state, signal) {
      const machine = await machineOf(state.id);
      // A host of an earlier version still restores what it has, and refuses a website that it lacks.
      const { makesForRestore = false } = await machine.describe();
      if (makesForRestore) await machine.makeForRestore(state, signal);
    },
    async restore(install, backupId, options = {}, signal, report) {
      const machine = await machineOf(install.id);
      const known = await knownRestoreOptions(machine, options);
      return machine.restore(install, backupId, known, signal, report);
    },
    retire: toKeeper('retire'),
    removeBackups: toKeeper('removeBackups'),
    async remove({ id, name, hostId }, options) {
      const place = hostId === undefined ? await placeOf(reader, id) : { hostId };
      // No row names the host of a restore check's scratch install, and another process may have made it.
      if (place === undefined) return everywhere((machine) => machine.remove({ id, name }));
      if (place.hostId === null) return;
      if (!(await connections.isKnown(place.hostId))) {
        log.warn(
          { install: id, host: place.hostId },
          'the host of a deleted install is no longer registered',
        );
        return;
      }
      await (await connections.machine(place.hostId)).remove({ id, name }, options);
      await freeFailed(database, id);
      edges.announce(id);
    },

    async publish(proof) {
      const hostId = await hostServing(reader, proof.hostname);
      if (hostId === null) return everywhere((machine) => machine.publish(proof));
      await (await connections.machine(hostId)).publish(proof);
    },
    // Another host may serve the name by now.
    withdraw: (proof) => everywhere((machine) => machine.withdraw(proof)),
  };
}
