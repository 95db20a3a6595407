import { type HostDescription, type HostQuestions, PermanentHostError } from '../../hosting/host.ts';
import { type HostTarget, HostUnreachableError, type RemoteHost } from '../../hosting/remote/client.ts';
import { OperatorError } from '../../operator-error.ts';
import type { Platform } from '../../platform.ts';
import { createHostService, isLocalAddress } from './service.ts';
import { allHosts, findHost, type KnownHost } from './store.ts';

export type Connect = (target: HostTarget) => RemoteHost;

/** The connections of this process to all hosts. */
export interface Connections {
  /** Meets every host once. Throws OperatorError if there is none. */
  start(): Promise<void>;
  /** Asks each how it is and writes that down; connects to new ones, and forgets those that were removed. */
  refresh(): Promise<void>;
  /** Rejects with a PermanentHostError for a host that was removed, HostUnreachableError for one of another machine. */
  machine(hostId: string): Promise<RemoteHost>;
  isKnown(hostId: string): Promise<boolean>;
  ports(): HostDescription['ports'] | null;
  close(): Promise<void>;
}

export function createConnections(
  platform: Platform,
  { connect, questionsOf }: { connect: Connect; questionsOf: (hostId: string) => HostQuestions },
): Connections {
  const { database, log } = platform;
  const { reader } = database;
  const hosts = createHostService(platform);
  /** By the id of the host; that of this machine is among them once it has said its id. */
  const machines = new Map<string, RemoteHost>();
  /** Why hosts do not answer, so that it is said once. */
  const faults = new Map<string, string>();
  let local = connect(hosts.localTarget);
  let localId: string | null = null;
  let ports: HostDescription['ports'] | null = null;

  /** Asks whoever is at this machine's own socket who it is. Rejects if nobody is. */
  const meetLocal = together(async () => {
    const description = await local.describe();
    if (description.id !== localId) {
      await hosts.registerLocal(description);
      if (localId !== null) {
        // Another host is there now, which is to be told nothing of the earlier one's installs.
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
      log.warn({ err, host: hostId }, 'the questions of a host cannot be answered for the moment');
    });
    return remote;
  }

  async function machine(hostId: string): Promise<RemoteHost> {
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
      );
    }
    const target = await hosts.targetOf(host);
    // Another call may have connected meanwhile.
    return machines.get(hostId) ?? adopt(hostId, connect(target));
  }

  const refresh = together(async () => {
    const localFault = await meetLocal().then(
      () => null,
      (error: unknown) => error,
    );
    const known = await allHosts(reader);
    for (const [id, remote] of machines) {
      if (known.some((host) => host.id === id)) continue;
      machines.delete(id);
      await remote.close();
      if (id === localId) {
        localId = null;
        local = connect(hosts.localTarget);
      }
    }
    await Promise.all(
      known.map(async (host) => {
        if (host.id === localId || isAtOurSocket(host)) {
          if (localFault !== null) await noteFault(host, localFault);
          else if (host.id !== localId) await noteFault(host, new Error('Another host has taken its place'));
        } else if (!isLocalAddress(host.address)) await look(host);
      }),
    );
    ports ??= known.find(({ description }) => description !== null)?.description?.ports ?? null;
  });

  function isAtOurSocket({ address }: KnownHost): boolean {
    return address === `unix:${hosts.localTarget.socket}`;
  }

  async function look(host: KnownHost): Promise<void> {
    try {
      const description = await (await machine(host.id)).describe();
      if (description.id !== host.id) throw new Error(`it says that it is the host ${description.id}`);
      await noteWell(description);
    } catch (error) {
      await noteFault(host, error);
    }
  }

  async function noteWell(description: HostDescription): Promise<void> {
    if (faults.delete(description.id)) log.info({ host: description.id }, 'a host answers again');
    await hosts.note(description);
  }

  async function noteFault({ id, name }: KnownHost, error: unknown): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error);
    if (faults.get(id) === reason) return;
    faults.set(id, reason);
    log.warn({ err: error, host: name }, 'a host cannot be asked how it is');
    await database.write(({ queries }) =>
      queries.updateTable('hosts').set({ reason }).where('id', '=', id).execute(),
    );
  }

  return {
    async start() {
      try {
        await meetLocal();
      } catch (error) {
        if (!(error instanceof HostUnreachableError)) throw error;
        if ((await allHosts(reader)).length === 0) {
          throw new OperatorError(
            `There is no host for the websites. ${error.message} A host on another machine is added with "homeport host add".`,
            { cause: error },
          );
        }
      }
      await refresh();
    },
    refresh,
    machine,
    isKnown: async (hostId) => (await findHost(reader, { id: hostId })) !== undefined,
    ports: () => ports,
    async close() {
      await Promise.all([...new Set([local, ...machines.values()])].map((remote) => remote.close()));
    },
  };
}

/** Whoever asks while it runs waits for the same run. */
function together(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}
