import { isAllowed, type Verb } from '../../../access/permissions.ts';
import type { DatabaseChange, Topic } from '../../../database/change-feed.ts';
import type { Role } from '../../../lib/roles.ts';
import type { RightsRow } from './store.ts';

/** A user's rights, as far as live changes need them. */
export interface Rights {
  userId: string;
  /** The user's role, by account id. */
  roles: ReadonlyMap<string, Role>;
  /** Installs granted to the user as a partial user, and the sites that contain them. */
  installs: ReadonlySet<string>;
  sites: ReadonlySet<string>;
}

export function rightsFrom(userId: string, rows: readonly RightsRow[]): Rights {
  return {
    userId,
    roles: new Map(rows.map(({ account_id, role }) => [account_id, role])),
    installs: new Set(rows.flatMap(({ install_id }) => install_id ?? [])),
    sites: new Set(rows.flatMap(({ site_id }) => site_id ?? [])),
  };
}

/** The verb that a user needs to see changes of a topic. */
const VERBS: Record<Topic, Verb> = {
  account: 'account.read',
  member: 'member.read',
  site: 'site.read',
  transfer: 'transfer.read',
  install: 'install.read',
  domain: 'install.read',
  backup: 'install.read',
  report: 'install.read',
  offload: 'install.read',
  rules: 'install.read',
  operation: 'install.read',
  activity: 'activity.read',
  notification: 'account.read',
};

export function sees(rights: Rights, change: DatabaseChange): boolean {
  const role = rights.roles.get(change.account_id) ?? null;
  return isAllowed(VERBS[change.topic], { role, own: isOwn(rights, change) });
}

function isOwn(
  { userId, installs, sites }: Rights,
  { topic, install_id, id, user_id }: DatabaseChange,
): boolean {
  if (install_id !== null) return installs.has(install_id);
  if (topic === 'site') return id !== null && sites.has(id);
  return user_id === userId;
}
