import type { InstallStatus } from '../../../database/tables/installs.ts';
import { takesLabels } from '../../hosts/labels.ts';
import type { KnownHost } from '../../hosts/store.ts';

/** What decides whether an install can move. */
export interface MovingInstall {
  name: string;
  status: InstallStatus;
  php_version: string | null;
  wordpress_version: string | null;
  /** Why the website is incomplete; null if it is not. */
  lost_data: string | null;
  /** What its account wants of a host. */
  labels: readonly string[];
}

export interface Machines {
  /** Undefined if the install is on none. */
  from: KnownHost | undefined;
  to: KnownHost;
  /** Installs on the new machine. */
  installs: number;
}

/** Why an install cannot move, for the operator; null if it can. */
export function moveRefusal(install: MovingInstall, { from, to, installs }: Machines): string | null {
  const { name } = install;
  if (install.status !== 'active') {
    return `The install "${name}" is ${install.status}; only an active one can be moved.`;
  }
  if (install.lost_data !== null) {
    return `The website "${name}" lost data, so there is nothing whole to move. Restore a backup first.`;
  }
  if (from === undefined) return `The install "${name}" is not on a machine of this platform.`;
  if (from.id === to.id) return `The install "${name}" is on "${to.name}" already.`;
  for (const host of [from, to]) {
    if (host.reason !== null || host.description === null) return `The host "${host.name}" does not answer.`;
    if (host.description.movesWebsites !== true) {
      return `The host "${host.name}" has an earlier version of Homeport, which cannot move websites. Upgrade it first.`;
    }
  }
  if (!to.accepting) {
    return `The host "${to.name}" takes no installs; "homeport host accept ${to.name}" changes that.`;
  }
  return labelRefusal(install, to) ?? roomRefusal(install, to, installs);
}

function labelRefusal({ name, labels }: MovingInstall, to: KnownHost): string | null {
  if (takesLabels(to, labels)) return null;
  const reason =
    labels.length === 0
      ? `The host "${to.name}" is reserved for accounts that want its labels.`
      : `The account of "${name}" wants hosts with ${labels.join(', ')}, and "${to.name}" has ${to.labels.join(', ') || 'no labels'}.`;
  return `${reason} Change that with "homeport account placement" or "homeport host change".`;
}

function roomRefusal(
  { name, php_version, wordpress_version }: MovingInstall,
  { name: host, description }: KnownHost,
  installs: number,
): string | null {
  if (description === null) return null;
  const { capacity, phpVersions, wordpressVersions, reservedNames } = description;
  if (installs >= capacity) return `The host "${host}" has no room for another install.`;
  if (reservedNames.includes(name)) return `The host "${host}" has a log-in "${name}" of its own.`;
  if (php_version !== null && !phpVersions.includes(php_version)) {
    return `The host "${host}" has no PHP ${php_version}; it has ${phpVersions.join(', ') || 'none'}.`;
  }
  if (wordpress_version !== null && !wordpressVersions.includes(wordpress_version)) {
    return `The host "${host}" has no WordPress ${wordpress_version}; it has ${wordpressVersions.join(', ') || 'none'}.`;
  }
  return null;
}

/** The free disk that a move needs on the new machine: the website and its backups, and its changes while they are restored. */
export const neededBytes = (websiteBytes: number): number => 3 * websiteBytes + 512 * 1024 * 1024;

/** Longest hold that a host accepts, in seconds. */
const LONGEST_HOLD = 3_600;

/**
 * Seconds until a website takes changes again if nothing is heard of its move. Making the first copy took `firstCopySeconds`, and the last one is not
 * longer; a busy machine may take three times that.
 */
export function holdSeconds(firstCopySeconds: number): number {
  return Math.min(LONGEST_HOLD, 120 + Math.ceil(3 * firstCopySeconds));
}
