import { describe, expect, it } from 'vitest';
import { canManageMember } from '../../../src/access/permissions.ts';
import { formatRoles, parseRoles as parseInput, ROLE_INPUTS } from '../../../src/lib/roles.ts';
import {
  assignableRoles,
  mayAssignBilling,
  parseRoles,
  ROLES,
  reasonNotToChange,
  roleLabel,
  rolesInput,
} from './roles.ts';

const all = ROLE_INPUTS.map((input) => parseInput(input));

describe('roles', () => {
  it('are parsed and formatted as on the server', () => {
    for (const member of all) {
      expect(parseRoles(formatRoles(member))).toEqual(member);
      expect(parseInput(rolesInput(member))).toEqual(member);
    }
  });

  it('have labels', () => {
    expect(roleLabel({ role: 'owner', billing: false })).toBe('Owner');
    expect(roleLabel({ role: 'partial', billing: true })).toBe('Partial, with billing');
  });

  it('can be assigned exactly as the server permits', () => {
    for (const actor of all) {
      expect(assignableRoles(actor)).toEqual(
        ROLES.filter((role) => canManageMember(actor, { role, billing: false })),
      );
      expect(mayAssignBilling(actor)).toBe(canManageMember(actor, { role: 'partial', billing: true }));
      for (const target of all) {
        expect(reasonNotToChange(actor, { ...target, lastOwner: false }) === null).toBe(
          canManageMember(actor, target),
        );
      }
    }
  });

  it('that cannot be changed have a reason', () => {
    const owner = { role: 'owner', billing: false } as const;
    const full = { role: 'full', billing: false } as const;
    expect(reasonNotToChange(owner, { ...owner, lastOwner: true })).toBe('An account needs an owner.');
    expect(reasonNotToChange(full, { ...owner, lastOwner: true })).toBe('Only owners can manage owners.');
    expect(reasonNotToChange(full, { role: 'partial', billing: true, lastOwner: false })).toMatch(/billing/);
  });
});
