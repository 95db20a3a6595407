import type { Queries } from '../../database/database.ts';
import { allHosts } from './store.ts';

/** What new installs may ask of the hosts that take them. */
export interface InstallOptions {
  /** `major.minor`, newest first. */
  phpVersions: string[];
  /** Names that no new install gets, because each of the machines has a log-in of that name. */
  reservedNames: Set<string>;
  /** Host names and addresses by which people reach the machines themselves. */
  publicNames: string[];
}

export async function loadInstallOptions(queries: Queries): Promise<InstallOptions> {
  const hosts = await allHosts(queries);
  const accepting = hosts.filter((host) => host.accepting);
  const descriptions = accepting.flatMap(({ description }) => (description === null ? [] : [description]));
  return {
    phpVersions: newestFirst(descriptions.flatMap(({ phpVersions }) => phpVersions)),
    reservedNames: inAll(descriptions.map(({ reservedNames }) => new Set(reservedNames))),
    publicNames: hosts.flatMap(({ public_name }) => (public_name === null ? [] : [public_name])),
  };
}

/** One machine that reserves a name, or says that it does, keeps it from itself alone. */
function inAll([first = new Set<string>(), ...others]: Set<string>[]): Set<string> {
  return new Set([...first].filter((name) => others.every((names) => names.has(name))));
}

/** Versions like `8.2` and `6.8.7`, each once. */
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
