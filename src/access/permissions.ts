import { Forbidden, NotFound } from '../lib/failures.ts';
import type { MemberRole, Role } from '../lib/roles.ts';

/** An action that needs permission. */
export type Verb =
  | 'account.read'
  | 'account.change'
  | 'activity.read'
  | 'member.read'
  | 'member.change'
  | 'site.read'
  | 'site.change'
  | 'site.transfer'
  | 'transfer.read'
  | 'install.read'
  | 'install.change'
  | 'install.work'
  | 'certificate.key'
  | 'event.read'
  | 'webhook.manage';

/** `all`: every resource of the account; `own`: granted installs, or the user's own entry; `none`: nothing. */
export type Reach = 'all' | 'own' | 'none';

/** The permission table (docs/api.md, Permissions). */
const REACH: Record<Verb, Record<Role, Reach>> = {
  // see the account
  'account.read': { owner: 'all', full: 'all', partial: 'all' },
  // rename the account, require a second factor of its users
  'account.change': { owner: 'all', full: 'none', partial: 'none' },
  // read the activity log: partial users their own entries only
  'activity.read': { owner: 'all', full: 'all', partial: 'own' },
  // list or read account users: partial users their own entry only
  'member.read': { owner: 'all', full: 'all', partial: 'own' },
  // invite, change, remove account users; canManageMember() limits the roles
  'member.change': { owner: 'all', full: 'all', partial: 'none' },
  // see sites and installs: partial users their granted installs, and the sites that contain those
  'site.read': { owner: 'all', full: 'all', partial: 'own' },
  'install.read': { owner: 'all', full: 'all', partial: 'own' },
  // create, rename, delete sites; create, move, delete installs
  'site.change': { owner: 'all', full: 'all', partial: 'none' },
  'install.change': { owner: 'all', full: 'all', partial: 'none' },
  // request, accept, decline and cancel transfers of sites to another account
  'site.transfer': { owner: 'all', full: 'none', partial: 'none' },
  // see transfers from and to the account
  'transfer.read': { owner: 'all', full: 'all', partial: 'none' },
  // domains, backups, caches, offload of an install
  'install.work': { owner: 'all', full: 'all', partial: 'own' },
  // read private keys (docs/api.md, Certificates)
  'certificate.key': { owner: 'all', full: 'all', partial: 'none' },
  // read the event log: partial users the events of their granted installs
  'event.read': { owner: 'all', full: 'all', partial: 'own' },
  // list, create, change, delete webhooks, and read their deliveries
  'webhook.manage': { owner: 'all', full: 'all', partial: 'none' },
};

/** The reach of a role for every verb, as the portal needs it. */
export function reachOf(role: Role): Record<Verb, Reach> {
  const reach = (verb: Verb) => REACH[verb][role];
  return {
    'account.read': reach('account.read'),
    'account.change': reach('account.change'),
    'activity.read': reach('activity.read'),
    'member.read': reach('member.read'),
    'member.change': reach('member.change'),
    'site.read': reach('site.read'),
    'site.change': reach('site.change'),
    'site.transfer': reach('site.transfer'),
    'transfer.read': reach('transfer.read'),
    'install.read': reach('install.read'),
    'install.change': reach('install.change'),
    'install.work': reach('install.work'),
    'certificate.key': reach('certificate.key'),
    'event.read': reach('event.read'),
    'webhook.manage': reach('webhook.manage'),
  };
}

/** A caller's relation to a resource, which determines their permissions. */
export interface ResourceAccess {
  /** The caller's role in the resource's account; null: not a member, or no such resource. */
  role: Role | null;
  /** Whether the resource or its install is granted to the caller, or the resource is the caller's own user entry. */
  own: boolean;
}

export function isAllowed(verb: Verb, { role, own }: ResourceAccess): boolean {
  if (role === null) return false;
  const reach = REACH[verb][role];
  return reach === 'all' || (reach === 'own' && own);
}

/**
 * Requires permission for `verb`. Throws {@link NotFound} if the caller may not see the resource (`readVerb` is the verb
 * for seeing it), and {@link Forbidden} if they see it but may not do this.
 */
export function authorize<Access extends ResourceAccess>(
  verb: Verb,
  readVerb: Verb,
  access: Access | undefined,
): asserts access is Access {
  if (access === undefined || !isAllowed(readVerb, access)) throw new NotFound();
  if (!isAllowed(verb, access)) throw new Forbidden();
}

/**
 * Whether `actor` may invite, change or remove a member whose present or future role is `target`. Members cannot manage
 * roles above their own, and need `billing` to manage a member with `billing`.
 */
export function canManageMember(actor: MemberRole, target: MemberRole): boolean {
  if (actor.role === 'owner') return true;
  return actor.role === 'full' && target.role !== 'owner' && (actor.billing || !target.billing);
}
