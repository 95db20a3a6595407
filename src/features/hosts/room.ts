import type { KnownHost } from './store.ts';

/** The requirements of a new install. */
export interface Needs {
  name: string;
  /** `major.minor`, or null for the host's default. */
  phpVersion: string | null;
  wordpressVersion: string | null;
}

/** The chosen host, or why none was chosen. */
export type Choice = { host: KnownHost } | { refusal: string; permanent: boolean };

/**
 * Chooses the host with the most free capacity that accepts installs, answers and meets the requirements; the oldest
 * wins ties. `counts`: installs per host.
 */
export function chooseHost(hosts: KnownHost[], counts: Map<string, number>, needs: Needs): Choice {
  const accepting = hosts.filter((host) => host.accepting);
  if (accepting.length === 0) {
    return {
      refusal: 'No host takes new installs; "homeport host list" shows them all',
      permanent: true,
    };
  }
  const answering = accepting.filter((host) => host.reason === null && host.description !== null);
  const suited = answering.filter((host) => suits(host, needs));
  const [best] = suited
    .map((host) => ({ host, room: roomOf(host, counts) }))
    .filter(({ room }) => room > 0)
    .sort((one, other) => other.room - one.room);
  if (best !== undefined) return { host: best.host };
  if (answering.length < accepting.length) {
    const silent = accepting.filter((host) => !answering.includes(host)).map((host) => host.name);
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

/** Free capacity of a host, in installs. */
function roomOf({ id, description }: KnownHost, counts: Map<string, number>): number {
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

function unsuited(hosts: KnownHost[], needs: Needs): string {
  const { name, phpVersion, wordpressVersion } = needs;
  const versions = [
    ...(phpVersion === null ? [] : [`PHP ${phpVersion}`]),
    ...(wordpressVersion === null ? [] : [`WordPress ${wordpressVersion}`]),
  ].join(' and ');
  if (!hosts.some((host) => hasVersions(host, needs))) return `No host has ${versions}`;
  return `Every host${versions === '' ? '' : ` with ${versions}`} has a log-in "${name}" of its own`;
}
