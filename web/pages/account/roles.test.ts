import { describe, expect, it } from 'vitest';
import { mayHandle } from '../../../src/access/permissions.ts';
import { formatRoles, parseRoles as parseInput, ROLE_INPUTS } from '../../../src/lib/roles.ts';
import {
  givenRoles,
  mayGiveBilling,
  parseRoles,
  ROLES,
  rolesInput,
  roleWords,
  whyNotChange,
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
    expect(roleWords({ role: 'owner', billing: false })).toBe('Owner');
    expect(roleWords({ role: 'partial', billing: true })).toBe('Partial, with billing');
  });

  it('are offered exactly as far as the server lets them be given', () => {
    for (const actor of all) {
      expect(givenRoles(actor)).toEqual(ROLES.filter((role) => mayHandle(actor, { role, billing: false })));
      expect(mayGiveBilling(actor)).toBe(mayHandle(actor, { role: 'partial', billing: true }));
      for (const target of all) {
        expect(whyNotChange(actor, { ...target, lastOwner: false }) === null).toBe(mayHandle(actor, target));
      }
    }
  });

  it('that cannot be changed say why', () => {
    const owner = { role: 'owner', billing: false } as const;
    const full = { role: 'full', billing: false } as const;
    expect(whyNotChange(owner, { ...owner, lastOwner: true })).toMatch(/Make somebody else an owner first/);
    expect(whyNotChange(full, { ...owner, lastOwner: true })).toBe('Only an owner can change an owner.');
    expect(whyNotChange(full, { role: 'partial', billing: true, lastOwner: false })).toMatch(/billing/);
  });
});
