import { hostname } from 'node:os';
import { Value } from 'typebox/value';
import type { Queries } from '../../database/database.ts';
import { lockPlacement } from '../../database/lock.ts';
import { uniqueViolation } from '../../database/unique-violation.ts';
import type { HostDescription } from '../../hosting/contract/host.ts';
import type { HostTarget } from '../../hosting/remote/host-target.ts';
import { createHostIdentity, formatIdentity } from '../../hosting/remote/identity.ts';
import { timestamp } from '../../lib/clock.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Platform } from '../../platform/platform.ts';
import { hostAuthority } from './authority.ts';
import { parseEdgeAddresses } from './edge-address-book.ts';
import { parseLabels } from './labels.ts';
import { UNIX } from './local-address.ts';
import { parsePublicName } from './public-name.ts';
import { removeInstall } from './removal-job.ts';
import {
  allHosts,
  deleteHost,
  findHost,
  type HostChange,
  hasDeletedInstalls,
  hasInstall,
  hasOpenMoves,
  insertHost,
  installCounts,
  type KnownHost,
  noteAnswer,
  payloadsOf,
  updateHost,
} from './store.ts';

/** A host with its number of installs. */
export interface HostView extends KnownHost {
  installs: number;
}

/** How users and visitors reach a host; the control plane uses its address. */
export interface HostReach {
  /** For users, by SFTP and SSH. Null: the address that the control plane uses. */
  publicName?: string | null;
  /** For visitors of its websites. Empty: the addresses from the settings. */
  edgeAddresses?: readonly string[];
}

/** The accounts that a host is for. */
export interface HostChoice {
  /** Words by which accounts choose hosts. */
  labels?: readonly string[];
  /** Whether it takes only installs of accounts that want its labels. */
  reserved?: boolean;
}

export type HostService = ReturnType<typeof createHostService>;

const NAME = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;

/** Registers, lists and removes the hosts, for the command line and the fleet. */
export function createHostService(platform: Platform) {
  const { config, database, clock, random } = platform;
  const socket = `${config.hostRunFolder}/host.sock`;

  async function named(name: string): Promise<KnownHost> {
    const host = await findHost(database.reader, { name });
    if (!host) throw new OperatorError(`There is no host "${name}"; "homeport host list" shows them all.`);
    return host;
  }

  /** Checks a public name. An install's default domain leads to that install, so it is refused. Throws OperatorError. */
  async function freePublicName(text: string): Promise<string> {
    const name = parsePublicName(text);
    const below = `.${config.siteDomain}`;
    const label = name.endsWith(below) ? name.slice(0, -below.length) : undefined;
    if (label === undefined || !(await hasInstall(database.reader, label))) return name;
    throw new OperatorError(`${name} is the name of an install; a host needs another public name.`);
  }

  async function issue(hostId: string): Promise<string> {
    const { authority } = await hostAuthority(platform);
    return formatIdentity(await createHostIdentity(authority, hostId, clock.now()));
  }

  async function insert(
    queries: Queries,
    host: Pick<KnownHost, 'id' | 'name' | 'address' | 'public_name' | 'edge_addresses'>,
  ): Promise<void> {
    await insertHost(queries, { ...host, created_at: timestamp(clock) });
  }

  /** Adds a host. Returns its identity (PEM), which is not stored. Throws OperatorError. */
  async function add(
    name: string,
    address: string,
    { publicName = null, edgeAddresses = [] }: HostReach = {},
  ): Promise<{ host: KnownHost; identity: string }> {
    if (!NAME.test(name)) {
      throw new OperatorError(
        `"${name}" cannot be the name of a host: lower-case letters, digits, dots and hyphens, at most 63.`,
      );
    }
    const url = parsedAddress(address);
    const public_name = publicName === null ? null : await freePublicName(publicName);
    const edge_addresses = parseEdgeAddresses(edgeAddresses);
    const id = random.uuid();
    const identity = await issue(id);
    await database
      .write(({ queries }) => insert(queries, { id, name, address: url, public_name, edge_addresses }))
      .catch((error: unknown) => {
        throw uniqueViolation(error) === 'hosts.name'
          ? new OperatorError(`There is a host "${name}" already; "homeport host list" shows them all.`)
          : error;
      });
    return { host: await named(name), identity };
  }

  /** Issues a new identity for a host whose own is lost or about to expire. Throws OperatorError. */
  async function renewIdentity(name: string): Promise<string> {
    const { id, address } = await named(name);
    if (address.startsWith(UNIX)) {
      throw new OperatorError(`The host "${name}" is reached by its socket, and needs no identity.`);
    }
    return issue(id);
  }

  async function list(): Promise<HostView[]> {
    const { reader } = database;
    const [hosts, counts] = await Promise.all([allHosts(reader), installCounts(reader)]);
    return hosts.map((host) => ({ ...host, installs: counts.get(host.id) ?? 0 }));
  }

  /** The host of that name. Throws OperatorError. */
  async function find(name: string): Promise<HostView> {
    const host = await named(name);
    return { ...host, installs: (await installCounts(database.reader)).get(host.id) ?? 0 };
  }

  /** Sets whether the host takes new installs. Present installs stay. Throws OperatorError. */
  async function setAccepting(name: string, accepting: boolean): Promise<void> {
    const { id } = await named(name);
    await database.write(({ queries }) => updateHost(queries, id, { accepting }));
  }

  /**
   * Changes how users and visitors reach a host, and which installs it gets; omitted fields stay. Null or an empty list restores the default.
   * Present installs stay. Returns the stored host. Throws OperatorError.
   */
  async function change(
    name: string,
    { publicName, edgeAddresses, labels, reserved }: HostReach & HostChoice,
  ): Promise<KnownHost> {
    const change: HostChange = {
      ...(labels === undefined ? {} : { labels: parseLabels(labels) }),
      ...(reserved === undefined ? {} : { reserved }),
    };
    if (publicName !== undefined)
      change.public_name = publicName === null ? null : await freePublicName(publicName);
    if (edgeAddresses !== undefined) change.edge_addresses = parseEdgeAddresses(edgeAddresses);
    const { id } = await named(name);
    return database.write(async ({ queries }) => {
      await updateHost(queries, id, change);
      const host = await findHost(queries, { id });
      if (host === undefined) throw new OperatorError(`The host "${name}" was removed meanwhile.`);
      if (host.reserved && host.labels.length === 0) {
        throw new OperatorError(
          `A reserved host without labels gets no installs. Use --label, or --no-reserved, or "homeport host drain ${name}".`,
        );
      }
      return host;
    });
  }

  /** Notes that the backups of a host have moved, so that nothing of them is deleted automatically for some days. */
  async function noteBackupsMoved(name: string): Promise<void> {
    const { id } = await named(name);
    await database.write(({ queries }) => updateHost(queries, id, { backups_moved_at: timestamp(clock) }));
  }

  /** Removes a host without installs. Throws OperatorError. */
  async function remove(name: string): Promise<void> {
    const { id } = await named(name);
    await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockPlacement(transaction);
      const count = (await installCounts(queries)).get(id) ?? 0;
      if (count > 0) {
        throw new OperatorError(
          `There ${count === 1 ? 'is an install' : `are ${count} installs`} on the host "${name}". Move or delete them first; ` +
            `"homeport host drain ${name}" puts no new ones there.`,
        );
      }
      if (await hasOpenMoves(queries, id)) {
        throw new OperatorError(
          `An install is being moved to or from the host "${name}". Wait for the move, or cancel it with "homeport install move <install> --cancel".`,
        );
      }
      if (await isBeingEmptied(queries, id)) {
        throw new OperatorError(
          `Websites of deleted installs are still being removed from the host "${name}". Try again when that is done.`,
        );
      }
      if (await hasDeletedInstalls(queries, id)) {
        throw new OperatorError(
          `The host "${name}" keeps backups of deleted installs, which "homeport install deleted" shows. ` +
            'Remove the host after their backups have expired.',
        );
      }
      await deleteHost(queries, id);
    });
  }

  /** Registers this machine's host from its description. Returns its id. */
  async function registerLocal(description: HostDescription): Promise<string> {
    const { id } = description;
    await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockPlacement(transaction);
      const address = `${UNIX}${socket}`;
      const present = await findHost(queries, { id });
      // A host registered by another address is reached there from other machines too.
      if (present) return;
      const name = localName();
      const taken = (await findHost(queries, { name })) !== undefined;
      await insert(queries, {
        id,
        name: taken ? `${name}-${id.slice(0, 4)}` : name,
        address,
        public_name: null,
        edge_addresses: [],
      });
    });
    return id;
  }

  /** The connection target of a host. */
  async function targetOf({ id, name, address }: KnownHost): Promise<HostTarget> {
    if (address.startsWith(UNIX)) return { name, socket: address.slice(UNIX.length) };
    const { client } = await hostAuthority(platform);
    return { name, url: address, hostId: id, identity: client };
  }

  /** Stores a host's description. */
  async function note(description: HostDescription): Promise<void> {
    await database.write(({ queries }) => noteAnswer(queries, { description, at: timestamp(clock) }));
  }

  return {
    add,
    renewIdentity,
    list,
    find,
    setAccepting,
    change,
    noteBackupsMoved,
    remove,
    registerLocal,
    targetOf,
    /** The connection target of the host of that name. Throws OperatorError, also if it was given up. */
    target: async (name: string) => {
      const host = await named(name);
      if (host.lost_at === null) return targetOf(host);
      throw new OperatorError(
        `The host "${name}" was given up as lost, so nothing is sent there; "homeport host found ${name}" takes it back.`,
      );
    },
    note,
    /** The socket of the host on this machine. */
    localTarget: { name: localName(), socket } satisfies HostTarget,
  };
}

function localName(): string {
  const name = hostname()
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, '-')
    .slice(0, 58)
    .replace(/^[.-]+|[.-]+$/g, '');
  return name === '' ? 'local' : name;
}

function parsedAddress(text: string): string {
  const url = URL.parse(text);
  const isPlain =
    url !== null &&
    url.protocol === 'https:' &&
    url.username === '' &&
    url.password === '' &&
    `${url.pathname}${url.search}${url.hash}` === '/';
  if (!isPlain) {
    throw new OperatorError(
      `The address of a host is like https://10.0.0.2:8470, what its HOMEPORT_HOST_LISTEN has; it is "${text}".`,
    );
  }
  return url.origin;
}

/** Whether jobs still remove websites from a host. */
async function isBeingEmptied(queries: Queries, hostId: string): Promise<boolean> {
  const payloads = await payloadsOf(queries, removeInstall.name, ['queued', 'running']);
  return payloads.some(
    (payload) => Value.Check(removeInstall.payload, payload) && payload.host_id === hostId,
  );
}
