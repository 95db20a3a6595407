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
import { UNIX } from './local-address.ts';
import { parsePublicName } from './public-name.ts';
import { removeInstall } from './removal-job.ts';
import {
  allHosts,
  deleteHost,
  findHost,
  type HostChange,
  hasInstall,
  insertHost,
  installCounts,
  type KnownHost,
  payloadsOf,
  updateHost,
} from './store.ts';

/** A host with what is on it, for the operator. */
export interface HostView extends KnownHost {
  installs: number;
}

/** How a host is reached, besides by the control plane. */
export interface HostReach {
  /** By people, for SFTP and SSH; null: where the control plane reaches it. */
  publicName?: string | null;
  /** By visitors of its websites; none: where the settings say. */
  edgeAddresses?: readonly string[];
}

export type HostService = ReturnType<typeof createHostService>;

const NAME = /^[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?$/;

/** The machines that run websites: for the command line, and for the fleet. */
export function createHostService(platform: Platform) {
  const { config, database, clock, random } = platform;
  const socket = `${config.hostRunFolder}/host.sock`;

  async function named(name: string): Promise<KnownHost> {
    const host = await findHost(database.reader, { name });
    if (!host) throw new OperatorError(`There is no host "${name}"; "homeport host list" shows them all.`);
    return host;
  }

  /** What people may reach a host by: an install's own name leads to that install. Throws OperatorError. */
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

  /** Adds a machine. Gives its identity, PEM, which is shown only now. Throws OperatorError. */
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

  /** A new identity for a host whose own was lost, or will expire. Throws OperatorError. */
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

  /** Whether new installs are put on it; those that are there stay. Throws OperatorError. */
  async function setAccepting(name: string, accepting: boolean): Promise<void> {
    const { id } = await named(name);
    await database.write(({ queries }) => updateHost(queries, id, { accepting }));
  }

  /**
   * How people and visitors reach it from now on; what is left out stays. Null and an empty list: as if nothing had been said. Gives the
   * host as it is kept. Throws OperatorError.
   */
  async function setReach(name: string, { publicName, edgeAddresses }: HostReach): Promise<KnownHost> {
    const change: HostChange = {};
    if (publicName !== undefined)
      change.public_name = publicName === null ? null : await freePublicName(publicName);
    if (edgeAddresses !== undefined) change.edge_addresses = parseEdgeAddresses(edgeAddresses);
    const { id } = await named(name);
    await database.write(({ queries }) => updateHost(queries, id, change));
    return named(name);
  }

  /** Forgets a machine on which nothing is left. Throws OperatorError. */
  async function remove(name: string): Promise<void> {
    const { id } = await named(name);
    await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockPlacement(transaction);
      const count = (await installCounts(queries)).get(id) ?? 0;
      if (count > 0) {
        throw new OperatorError(
          `There ${count === 1 ? 'is an install' : `are ${count} installs`} on the host "${name}". Delete them first; ` +
            `"homeport host drain ${name}" puts no new ones there.`,
        );
      }
      if (await isBeingEmptied(queries, id)) {
        throw new OperatorError(
          `Websites of deleted installs are still being removed from the host "${name}". Try again when that is done.`,
        );
      }
      await deleteHost(queries, id);
    });
  }

  /** Makes the host of this machine known, once it has described itself. Gives its id. */
  async function registerLocal(description: HostDescription): Promise<string> {
    const { id } = description;
    await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockPlacement(transaction);
      const address = `${UNIX}${socket}`;
      const present = await findHost(queries, { id });
      // One that is known by another address is reached by that from elsewhere, too.
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

  /** How to reach a host. */
  async function targetOf({ id, name, address }: KnownHost): Promise<HostTarget> {
    if (address.startsWith(UNIX)) return { name, socket: address.slice(UNIX.length) };
    const { client } = await hostAuthority(platform);
    return { name, url: address, hostId: id, identity: client };
  }

  /** Writes down how a host says that it is. */
  async function note(description: HostDescription): Promise<void> {
    await database.write(({ queries }) =>
      updateHost(queries, description.id, {
        description: JSON.stringify(description),
        seen_at: timestamp(clock),
        reason: null,
      }),
    );
  }

  return {
    add,
    renewIdentity,
    list,
    setAccepting,
    setReach,
    remove,
    registerLocal,
    targetOf,
    /** The same, by its name. Throws OperatorError. */
    target: async (name: string) => targetOf(await named(name)),
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

/** Whether a website is still to be taken away from a host. */
async function isBeingEmptied(queries: Queries, hostId: string): Promise<boolean> {
  const payloads = await payloadsOf(queries, removeInstall.name, ['queued', 'running']);
  return payloads.some(
    (payload) => Value.Check(removeInstall.payload, payload) && payload.host_id === hostId,
  );
}
