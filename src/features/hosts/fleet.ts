import {
  type Host,
  type HostDescription,
  type HostMachine,
  type InstallRef,
  PermanentHostError,
} from '../../hosting/contract/host.ts';
import { HostUnreachableError } from '../../hosting/remote/client.ts';
import { type Repetition, repeatEvery } from '../../lib/concurrency.ts';
import type { Platform } from '../../platform/platform.ts';
import { type ConnectionsOptions, createConnections } from './connections.ts';
import { placeInstall } from './placement.ts';
import { allHosts, freeFailed, hostServing, placeOf } from './store.ts';

/** Every machine that runs websites, as one host: each call goes to the machine of its install. */
export interface Fleet extends Host {
  /** The machine that an install is on. Rejects with a {@link PermanentHostError} if it is on none. */
  machineOf(installId: string): Promise<HostMachine>;
  /** The machine of that id. */
  machine(hostId: string): Promise<HostMachine>;
  /** The ids of the machines that answered when they were last asked. */
  met(): string[];
  /** Calls back with each machine that answers, and again when one answers after it did not. Returns how to stop that. */
  onMet(listener: (hostId: string) => void): () => void;
  /** Ports on which the host of this machine, else the first of all, serves websites; null while none is known. */
  ports(): HostDescription['ports'] | null;
}

export interface FleetOptions extends ConnectionsOptions {
  /** Rejects with a {@link PermanentHostError} if the host holds another website under the name of an install. */
  requireNameFree(hostId: string, install: InstallRef): Promise<void>;
  /** How often the machines are asked how they are, in milliseconds; 30 s if left out. */
  refreshMs?: number;
}

const REFRESH_MS = 30_000;

/**
 * Starting it connects to all machines, makes the one at this machine's own socket known, and throws an OperatorError if
 * there is none at all. From then on their questions are answered, and how they are is written down for everybody.
 */
export function createFleet(platform: Platform, options: FleetOptions): Fleet {
  const { database, log } = platform;
  const { reader } = database;
  const connections = createConnections(platform, options);
  let refreshes: Repetition | undefined;

  /** A host may have been added, or have come back, since they were last asked. */
  async function place(installId: string): Promise<string> {
    return placeInstall(platform, installId).catch(async () => {
      await connections.refresh();
      return placeInstall(platform, installId);
    });
  }

  async function machineOf(installId: string): Promise<HostMachine> {
    const place = await placeOf(reader, installId);
    if (!place) throw new PermanentHostError('There is no such install any more');
    if (place.hostId === null) throw new PermanentHostError('The install is not on any host');
    return connections.machine(place.hostId);
  }

  /** On each machine that answers, side by side. Rejects if there is none, or if one refuses. */
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
    for (const err of faults) log.warn({ err }, 'a host was left out');
  }

  return {
    async start() {
      try {
        await connections.start();
      } catch (error) {
        await connections.close();
        throw error;
      }
      refreshes = repeatEvery(connections.refresh, {
        delayMs: options.refreshMs ?? REFRESH_MS,
        onError: (err) => log.error({ err }, 'could not find out how the hosts are'),
      });
    },
    async stop() {
      await refreshes?.stop();
      await connections.close();
    },
    machineOf,
    machine: connections.machine,
    met: connections.met,
    onMet: connections.onMet,
    ports: connections.ports,

    async apply(state, signal) {
      const hostId = await place(state.id);
      await options.requireNameFree(hostId, state);
      const machine = await connections.machine(hostId);
      return machine.apply(state, signal);
    },

    async remove({ id, name, hostId }) {
      const place = hostId === undefined ? await placeOf(reader, id) : { hostId };
      // Nobody knows of a restore's trial where it was made: this process may be another one.
      if (place === undefined) return everywhere((machine) => machine.remove({ id, name }));
      if (place.hostId === null) return;
      if (!(await connections.isKnown(place.hostId))) {
        log.warn({ install: id, host: place.hostId }, 'the host of a deleted install is not known any more');
        return;
      }
      await (await connections.machine(place.hostId)).remove({ id, name });
      await freeFailed(database, id);
    },

    purge: async (install, cache) => (await machineOf(install.id)).purge(install, cache),
    snapshot: async (install, backupId, signal) =>
      (await machineOf(install.id)).snapshot(install, backupId, signal),
    restore: async (install, backupId, restoreOptions) =>
      (await machineOf(install.id)).restore(install, backupId, restoreOptions),
    discardSnapshot: async (install, backupId) =>
      (await machineOf(install.id)).discardSnapshot(install, backupId),

    async publish(proof) {
      const hostId = await hostServing(reader, proof.hostname);
      if (hostId === null) return everywhere((machine) => machine.publish(proof));
      await (await connections.machine(hostId)).publish(proof);
    },
    // A name may have passed to another host since.
    withdraw: (proof) => everywhere((machine) => machine.withdraw(proof)),
  };
}
