/** What a member may be in an account (gaps section 6), strongest first. `billing` is beside the role. */
export const ROLES = ['owner', 'full', 'partial'] as const;
export type Role = (typeof ROLES)[number];

/** What the API takes as `roles` (specification, Account user). */
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

/** Role names as they read back: alphabetical, a space after the comma (gaps section 5). */
export function formatRoles({ role, billing }: MemberRole): string {
  return (billing ? ['billing', role] : [role]).sort().join(', ');
}
