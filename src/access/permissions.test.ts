import { expect, it } from 'vitest';
import { ROLES } from '../lib/roles.ts';
import { isAllowed, reachOf } from './permissions.ts';

it('only owners change an account; partial users read only their own activity', () => {
  expect(ROLES.map((role) => reachOf(role)['account.change'])).toEqual(['all', 'none', 'none']);
  expect(ROLES.map((role) => reachOf(role)['activity.read'])).toEqual(['all', 'all', 'own']);
});

it('reachOf agrees with isAllowed', () => {
  const verbs = ['account.read', 'account.change', 'activity.read', 'member.read', 'member.change'] as const;
  for (const role of ROLES) {
    for (const verb of verbs) {
      const reach = reachOf(role)[verb];
      expect(isAllowed(verb, { role, own: true }), `${role} ${verb}`).toBe(reach !== 'none');
      expect(isAllowed(verb, { role, own: false }), `${role} ${verb}`).toBe(reach === 'all');
    }
  }
});
