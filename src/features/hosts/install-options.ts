import type { Queries } from '../../database/database.ts';
import { allHosts } from './store.ts';

/** The options that hosts accepting new installs have in common. */
export interface InstallOptions {
  /** `major.minor`, newest first. */
  phpVersions: string[];
  /** Names refused to new installs because every accepting host has a login of that name. */
  reservedNames: Set<string>;
  /** Host names and addresses of the hosts themselves. */
  publicNames: string[];
}

export async function loadInstallOptions(queries: Queries): Promise<InstallOptions> {
  const hosts = await allHosts(queries);
  const accepting = hosts.filter((host) => host.accepting && host.lost_at === null);
  const descriptions = accepting.flatMap(({ description }) => (description === null ? [] : [description]));
  return {
    phpVersions: newestFirst(descriptions.flatMap(({ phpVersions }) => phpVersions)),
    reservedNames: inAll(descriptions.map(({ reservedNames }) => new Set(reservedNames))),
    publicNames: hosts.flatMap(({ public_name }) => (public_name === null ? [] : [public_name])),
  };
}

/** A name reserved by one host only is refused by that host's placement, not here. */
function inAll([first = new Set<string>(), ...others]: Set<string>[]): Set<string> {
  return new Set([...first].filter((name) => others.every((names) => names.has(name))));
}

/** Sorts versions like `8.2` and `6.8.7`, without duplicates. */
export function newestFirst(versions: string[]): string[] {
  return [...new Set(versions)].sort((one, other) => compare(other, one));
}

function compare(one: string, other: string): number {
  const [left, right] = [one, other].map((version) => version.split('.').map(Number));
  for (let part = 0; part < Math.max(left?.length ?? 0, right?.length ?? 0); part++) {
    const difference = (left?.[part] ?? 0) - (right?.[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
