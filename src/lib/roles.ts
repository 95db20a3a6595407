/** Roles of an account user, strongest first (docs/api.md, Permissions). `billing` is independent of the role. */
export const ROLES = ['owner', 'full', 'partial'] as const;
export type Role = (typeof ROLES)[number];

/** Values that the API accepts as `roles` (docs/api.md, Accounts and users). */
export const ROLE_INPUTS = ['owner', 'full,billing', 'full', 'partial,billing', 'partial'] as const;
export type RoleInput = (typeof ROLE_INPUTS)[number];

export interface MemberRole {
  role: Role;
  billing: boolean;
}

export function parseRoles(input: RoleInput): MemberRole {
  switch (input) {
    case 'owner':
      return { role: 'owner', billing: false };
    case 'full':
      return { role: 'full', billing: false };
    case 'full,billing':
      return { role: 'full', billing: true };
    case 'partial':
      return { role: 'partial', billing: false };
    case 'partial,billing':
      return { role: 'partial', billing: true };
  }
}

/** `roles` in responses: alphabetical, with a space after the comma (docs/api.md, Accounts and users). */
export function formatRoles({ role, billing }: MemberRole): string {
  return (billing ? ['billing', role] : [role]).sort().join(', ');
}
