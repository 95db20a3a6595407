import { takesLabels } from './labels.ts';
import type { KnownHost } from './store.ts';

/** The requirements of a new install. */
export interface Needs {
  name: string;
  /** `major.minor`, or null for the host's default. */
  phpVersion: string | null;
  wordpressVersion: string | null;
  /** The labels that its account wants of a host. */
  labels: readonly string[];
  /** How many production installs of its account each host has, if it is one itself. */
  neighbours?: ReadonlyMap<string, number>;
}

/** The chosen host, or why none was chosen. */
export type Choice = { host: KnownHost } | { refusal: string; permanent: boolean };

/** A machine with less of its memory or its disk gets an install only if all others are as short. */
const LEAST_FREE = 0.05;
/** The share of the best machine's free part that another needs, to get an install because it has fewer of the same account. */
const COMPARABLE = 0.5;

/**
 * Chooses among the hosts that accept installs, take the labels of the account, answer and meet the requirements. The one with the largest free part wins, of its capacity,
 * memory, disk or processors, whichever is the smallest. Production installs of an account go to different hosts, if these have about as
 * much left, so that the loss of a machine does not take all of them. Then the larger free capacity wins, and the older host. `counts`:
 * installs per host.
 */
export function chooseHost(
  hosts: readonly KnownHost[],
  counts: ReadonlyMap<string, number>,
  needs: Needs,
): Choice {
  const accepting = hosts.filter((host) => host.accepting && host.lost_at === null);
  if (accepting.length === 0) {
    return {
      refusal: 'No host takes new installs; "homeport host list" shows them all',
      permanent: true,
    };
  }
  const labelled = accepting.filter((host) => takesLabels(host, needs.labels));
  if (labelled.length === 0) return { refusal: unlabelled(needs.labels), permanent: true };
  const answering = labelled.filter((host) => host.reason === null && host.description !== null);
  const suited = answering.filter((host) => suits(host, needs));
  const best = bestOf(
    suited.map((host) => ({ host, room: roomOf(host, counts) })).filter(({ room }) => room > 0),
    counts,
    needs.neighbours ?? new Map(),
  );
  if (best !== undefined) return { host: best };
  if (answering.length < labelled.length) {
    const silent = labelled.filter((host) => !answering.includes(host)).map((host) => host.name);
    return {
      refusal: `No host that answers has room; ${silent.join(', ')} does not answer`,
      permanent: false,
    };
  }
  if (suited.length === 0) return { refusal: unsuited(answering, needs), permanent: true };
  return {
    refusal: 'No host has room for another install; "homeport host add" adds a machine',
    permanent: true,
  };
}

function bestOf(
  candidates: readonly { host: KnownHost; room: number }[],
  counts: ReadonlyMap<string, number>,
  neighbours: ReadonlyMap<string, number>,
): KnownHost | undefined {
  const judged = candidates.map(({ host, room }) => ({
    ...{ host, room, free: freePart(host, counts), isShort: isShort(host) },
    near: neighbours.get(host.id) ?? 0,
  }));
  const roomy = judged.filter((one) => !one.isShort);
  const eligible = roomy.length > 0 ? roomy : judged;
  const most = Math.max(...eligible.map(({ free }) => free));
  const [best] = eligible
    .filter(({ free }) => free >= most * COMPARABLE)
    .sort((one, other) => one.near - other.near || other.free - one.free || other.room - one.room);
  return best?.host;
}

/** The smallest of the free parts of a host, from 0 to 1. Hosts of earlier versions tell only their capacity. `counts`: installs per host. */
export function freePart(host: KnownHost, counts: ReadonlyMap<string, number>): number {
  const { description } = host;
  const byCapacity = description === null ? 0 : roomOf(host, counts) / description.capacity;
  const machine = description?.machine;
  if (machine === undefined) return byCapacity;
  const { memory, disk, load, processors } = machine;
  return Math.min(byCapacity, partOf(memory), partOf(disk), Math.max(0, 1 - load / processors));
}

/** A size without a total says nothing. A quotient that is not a number would leave no host for any install. */
const partOf = ({ free, total }: { free: number; total: number }): number => (total === 0 ? 1 : free / total);

/** Whether so little of its memory or its disk is left that it should get no install. */
export function isShort({ description }: KnownHost): boolean {
  const machine = description?.machine;
  if (machine === undefined) return false;
  return [machine.memory, machine.disk].some(({ free, total }) => free < total * LEAST_FREE);
}

/** Free capacity of a host, in installs. */
function roomOf({ id, description }: KnownHost, counts: ReadonlyMap<string, number>): number {
  return (description?.capacity ?? 0) - (counts.get(id) ?? 0);
}

function suits(host: KnownHost, needs: Needs): boolean {
  return hasVersions(host, needs) && host.description?.reservedNames.includes(needs.name) === false;
}

function hasVersions({ description }: KnownHost, { phpVersion, wordpressVersion }: Needs): boolean {
  if (description === null) return false;
  return (
    (phpVersion === null || description.phpVersions.includes(phpVersion)) &&
    (wordpressVersion === null || description.wordpressVersions.includes(wordpressVersion))
  );
}

function unlabelled(labels: readonly string[]): string {
  const wanted = `the label${labels.length === 1 ? '' : 's'} ${labels.join(' and ')}`;
  return labels.length === 0
    ? 'All hosts that take new installs are reserved for accounts with their labels'
    : `No host with ${wanted} takes new installs; "homeport host list" shows the labels`;
}

function unsuited(hosts: KnownHost[], needs: Needs): string {
  const { name, phpVersion, wordpressVersion } = needs;
  const versions = [
    ...(phpVersion === null ? [] : [`PHP ${phpVersion}`]),
    ...(wordpressVersion === null ? [] : [`WordPress ${wordpressVersion}`]),
  ].join(' and ');
  if (!hosts.some((host) => hasVersions(host, needs))) return `No host has ${versions}`;
  return `Every host${versions === '' ? '' : ` with ${versions}`} has a log-in "${name}" of its own`;
}
