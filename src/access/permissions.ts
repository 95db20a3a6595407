import { Forbidden, NotFound } from '../lib/failures.ts';
import type { MemberRole, Role } from '../lib/roles.ts';

/** What can be done, as far as permission is concerned. */
export type Verb =
  | 'account.read'
  | 'account.change'
  | 'activity.read'
  | 'member.read'
  | 'member.change'
  | 'site.read'
  | 'site.change'
  | 'install.read'
  | 'install.change'
  | 'install.work'
  | 'certificate.key';

/** `all`: on everything of the account; `own`: on what was given to them, or is themselves; `none`: not at all. */
export type Reach = 'all' | 'own' | 'none';

/** Who may do what (gaps section 6): the one table. */
const REACH: Record<Verb, Record<Role, Reach>> = {
  // see the account
  'account.read': { owner: 'all', full: 'all', partial: 'all' },
  // rename the account, demand a second factor of its users
  'account.change': { owner: 'all', full: 'none', partial: 'none' },
  // read who changed what in the account: partial users what they did themselves
  'activity.read': { owner: 'all', full: 'all', partial: 'own' },
  // list or read account users: partial users their own entry only
  'member.read': { owner: 'all', full: 'all', partial: 'own' },
  // invite, change, remove account users; how far is in mayHandle()
  'member.change': { owner: 'all', full: 'all', partial: 'none' },
  // see sites and installs: partial users the installs given to them, and the sites that hold those
  'site.read': { owner: 'all', full: 'all', partial: 'own' },
  'install.read': { owner: 'all', full: 'all', partial: 'own' },
  // create, rename, delete sites; create, move, delete installs
  'site.change': { owner: 'all', full: 'all', partial: 'none' },
  'install.change': { owner: 'all', full: 'all', partial: 'none' },
  // domains, backups, caches, offload of an install
  'install.work': { owner: 'all', full: 'all', partial: 'own' },
  // gaps section 5, cert_info.key
  'certificate.key': { owner: 'all', full: 'all', partial: 'none' },
};

/** All that can be done, and how far a role may: what the portal offers. */
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
    'install.read': reach('install.read'),
    'install.change': reach('install.change'),
    'install.work': reach('install.work'),
    'certificate.key': reach('certificate.key'),
  };
}

/** How the caller stands to a thing. */
export interface ResourceAccess {
  /** The caller's role in the account that the thing belongs to; null: no member, or no such thing. */
  role: Role | null;
  /** Whether the thing (or its install) was given to the caller, or is the caller. */
  own: boolean;
}

export function isAllowed(verb: Verb, { role, own }: ResourceAccess): boolean {
  if (role === null) return false;
  const reach = REACH[verb][role];
  return reach === 'all' || (reach === 'own' && own);
}

/**
 * Passes if the caller may do `verb`. Throws {@link NotFound} where the caller must not know that the thing exists
 * (`sight` is the verb that shows it), and {@link Forbidden} where the caller sees it but may not do this.
 */
export function authorize<Thing extends ResourceAccess>(
  verb: Verb,
  sight: Verb,
  standing: Thing | undefined,
): asserts standing is Thing {
  if (standing === undefined || !isAllowed(sight, standing)) throw new NotFound();
  if (!isAllowed(verb, standing)) throw new Forbidden();
}

/**
 * Whether a member may invite, change or remove somebody who has (or shall have) `target`: nobody gives or touches a
 * role above their own, and `billing` only who has it.
 */
export function mayHandle(actor: MemberRole, target: MemberRole): boolean {
  if (actor.role === 'owner') return true;
  return actor.role === 'full' && target.role !== 'owner' && (actor.billing || !target.billing);
}
