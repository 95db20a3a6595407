/** Strongest first. `billing` stands beside the role. */
export const ROLES = ['owner', 'full', 'partial'] as const;
export type Role = (typeof ROLES)[number];

export interface MemberRole {
  role: Role;
  billing: boolean;
}

/** A role as the API reads it back: `owner`, `billing, partial`. */
export function parseRoles(text: string): MemberRole {
  const parts = text.split(',').map((part) => part.trim());
  return {
    role: ROLES.find((role) => parts.includes(role)) ?? 'partial',
    billing: parts.includes('billing'),
  };
}

/** A role as the API takes it. */
export function rolesInput({ role, billing }: MemberRole) {
  if (role === 'owner') return 'owner';
  if (role === 'full') return billing ? 'full,billing' : 'full';
  return billing ? 'partial,billing' : 'partial';
}

const WORDS: Record<Role, string> = { owner: 'Owner', full: 'Full', partial: 'Partial' };

export const ROLE_MEANINGS: Record<Role, string> = {
  owner: 'Everything, also other owners, the name of the account, and whether a second factor is demanded.',
  full: 'All sites and installs of the account, and its people except owners.',
  partial:
    'Only the installs you tick: their domains, backups, caches and files. Creates and deletes no installs.',
};

export function roleName(role: Role): string {
  return WORDS[role];
}

export function roleLabel({ role, billing }: MemberRole): string {
  return billing ? `${WORDS[role]}, with billing` : WORDS[role];
}

/**
 * Whether somebody may invite, change or remove who has (or shall have) a role: nobody gives or touches one above their own,
 * and billing only who has it.
 */
function canManageMember(actor: MemberRole, target: MemberRole): boolean {
  if (actor.role === 'owner') return true;
  return actor.role === 'full' && target.role !== 'owner' && (actor.billing || !target.billing);
}

/** The roles that somebody may give. */
export function assignableRoles(actor: MemberRole): Role[] {
  return ROLES.filter((role) => canManageMember(actor, { role, billing: false }));
}

/** Whether somebody may give billing to whom they give a role. */
export function mayAssignBilling(actor: MemberRole): boolean {
  return canManageMember(actor, { role: 'partial', billing: true });
}

/** Why somebody cannot change or remove a member of the account, in words for them; null: they can. */
export function reasonNotToChange(
  actor: MemberRole,
  target: MemberRole & { lastOwner: boolean },
): string | null {
  if (actor.role === 'partial') return 'You cannot change who is in this account.';
  if (!canManageMember(actor, target)) {
    return target.role === 'owner'
      ? 'Only an owner can change an owner.'
      : 'Only who has billing can change somebody who has it.';
  }
  return target.lastOwner ? 'The last owner stays. Make somebody else an owner first.' : null;
}
