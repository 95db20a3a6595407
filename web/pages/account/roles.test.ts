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
  it('are read and written as the server does', () => {
    for (const member of all) {
      expect(parseRoles(formatRoles(member))).toEqual(member);
      expect(parseInput(rolesInput(member))).toEqual(member);
    }
  });

  it('are told in words', () => {
    expect(roleLabel({ role: 'owner', billing: false })).toBe('Owner');
    expect(roleLabel({ role: 'partial', billing: true })).toBe('Partial, with billing');
  });

  it('are offered exactly as far as the server lets them be given', () => {
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

  it('that cannot be changed say why', () => {
    const owner = { role: 'owner', billing: false } as const;
    const full = { role: 'full', billing: false } as const;
    expect(reasonNotToChange(owner, { ...owner, lastOwner: true })).toMatch(
      /Make somebody else an owner first/,
    );
    expect(reasonNotToChange(full, { ...owner, lastOwner: true })).toBe('Only an owner can change an owner.');
    expect(reasonNotToChange(full, { role: 'partial', billing: true, lastOwner: false })).toMatch(/billing/);
  });
});
