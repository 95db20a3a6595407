/** Roles with the most permissions first. `billing` is separate from the role. */
export const ROLES = ['owner', 'full', 'partial'] as const;
export type Role = (typeof ROLES)[number];

export interface MemberRole {
  role: Role;
  billing: boolean;
}

/** Parses a role in a response of the API: `owner`, `billing, partial`. */
export function parseRoles(text: string): MemberRole {
  const parts = text.split(',').map((part) => part.trim());
  return {
    role: ROLES.find((role) => parts.includes(role)) ?? 'partial',
    billing: parts.includes('billing'),
  };
}

/** Formats a role for a request to the API. */
export function rolesInput({ role, billing }: MemberRole) {
  if (role === 'owner') return 'owner';
  if (role === 'full') return billing ? 'full,billing' : 'full';
  return billing ? 'partial,billing' : 'partial';
}

const WORDS: Record<Role, string> = { owner: 'Owner', full: 'Full', partial: 'Partial' };

export const ROLE_MEANINGS: Record<Role, string> = {
  owner: "Full access, including other owners, the account's name and its second-factor requirement.",
  full: 'All sites and installs of the account, and all people except owners.',
  partial:
    'Only selected installs: their domains, backups, caches and files. Cannot create or delete installs.',
};

export function roleName(role: Role): string {
  return WORDS[role];
}

export function roleLabel({ role, billing }: MemberRole): string {
  return billing ? `${WORDS[role]}, with billing` : WORDS[role];
}

/**
 * Returns whether a member may invite, change or remove a person with a role. No one may assign or change a role
 * above their own, and only members with billing may handle billing.
 */
function canManageMember(actor: MemberRole, target: MemberRole): boolean {
  if (actor.role === 'owner') return true;
  return actor.role === 'full' && target.role !== 'owner' && (actor.billing || !target.billing);
}

/** Returns the roles that a member may assign. */
export function assignableRoles(actor: MemberRole): Role[] {
  return ROLES.filter((role) => canManageMember(actor, { role, billing: false }));
}

/** Returns whether a member may assign billing. */
export function mayAssignBilling(actor: MemberRole): boolean {
  return canManageMember(actor, { role: 'partial', billing: true });
}

/** Returns why a member cannot change or remove another one; null if they can. */
export function reasonNotToChange(
  actor: MemberRole,
  target: MemberRole & { lastOwner: boolean },
): string | null {
  if (actor.role === 'partial') return 'You cannot manage people in this account.';
  if (!canManageMember(actor, target)) {
    return target.role === 'owner'
      ? 'Only owners can manage owners.'
      : 'Only people with billing can manage this person.';
  }
  return target.lastOwner ? 'An account needs an owner.' : null;
}
