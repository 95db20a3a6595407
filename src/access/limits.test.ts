import { describe, expect, it } from 'vitest';
import { ROLES } from '../lib/roles.ts';
import type { CallerLimits } from './caller.ts';
import { excludesInstall, hasLimitedScope, limitedAccess, limitedRole, parseLimits } from './limits.ts';
import { isAllowed } from './permissions.ts';

const none: CallerLimits = { readOnly: false, accountId: null, installIds: null };
const toAccount: CallerLimits = { ...none, accountId: 'a' };
const toInstall: CallerLimits = { ...toAccount, installIds: ['i'] };

describe('limitedRole', () => {
  it.each(ROLES)('keeps the role %s within the account and removes it elsewhere', (role) => {
    expect(limitedRole(null, role, 'a')).toBe(role);
    expect(limitedRole({ ...none, readOnly: true }, role, 'a')).toBe(role);
    expect(limitedRole(toAccount, role, 'a')).toBe(role);
    expect(limitedRole(toAccount, role, 'b')).toBeNull();
    expect(limitedRole(toInstall, role, 'a')).toBe('partial');
    expect(limitedRole(toInstall, role, 'b')).toBeNull();
  });

  it('gives no role to a user without one', () => {
    expect(limitedRole(toInstall, null, 'a')).toBeNull();
  });
});

describe('limitedAccess', () => {
  const inA = { id: 'i', account_id: 'a' };
  const other = { id: 'j', account_id: 'a' };

  it('treats the caller as a partial user with the installs of the credential', () => {
    expect(limitedAccess(toInstall, { role: 'owner', own: false }, inA)).toEqual({
      role: 'partial',
      own: true,
    });
    expect(limitedAccess(toInstall, { role: 'owner', own: false }, other)).toEqual({
      role: 'partial',
      own: false,
    });
    expect(limitedAccess(toInstall, { role: 'partial', own: true }, other)).toEqual({
      role: 'partial',
      own: false,
    });
  });

  it('never exceeds the rights of the user', () => {
    const verbs = ['install.read', 'install.work', 'install.change', 'certificate.key'] as const;
    for (const limits of [null, none, toAccount, toInstall, { ...toAccount, installIds: [] }]) {
      for (const role of [...ROLES, null]) {
        for (const own of [true, false]) {
          for (const install of [inA, other, { id: 'i', account_id: 'b' }]) {
            const left = limitedAccess(limits, { role, own }, install);
            for (const verb of verbs) {
              if (isAllowed(verb, left)) expect(isAllowed(verb, { role, own })).toBe(true);
            }
          }
        }
      }
    }
  });

  it('keeps the rights of the user without limits', () => {
    expect(limitedAccess(null, { role: 'partial', own: true }, inA)).toEqual({ role: 'partial', own: true });
    expect(limitedAccess(toAccount, { role: 'full', own: false }, inA)).toEqual({
      role: 'full',
      own: false,
    });
  });
});

it('recognises excluded installs and credentials limited to an account or installs', () => {
  expect(excludesInstall(null, 'i')).toBe(false);
  expect(excludesInstall(toAccount, 'i')).toBe(false);
  expect(excludesInstall(toInstall, 'i')).toBe(false);
  expect(excludesInstall(toInstall, 'j')).toBe(true);
  expect(hasLimitedScope(null)).toBe(false);
  expect(hasLimitedScope({ ...none, readOnly: true })).toBe(false);
  expect(hasLimitedScope(toAccount)).toBe(true);
  expect(hasLimitedScope(toInstall)).toBe(true);
});

describe('parseLimits', () => {
  it('returns null without limits', () => {
    expect(parseLimits({ read_only: false, account_id: null, install_ids: null })).toBeNull();
  });

  it('returns the stored limits', () => {
    expect(parseLimits({ read_only: true, account_id: null, install_ids: null })).toEqual({
      ...none,
      readOnly: true,
    });
    expect(parseLimits({ read_only: false, account_id: 'a', install_ids: ['i'] })).toEqual(toInstall);
  });

  it.each([['"i"'], [{}], [[1]], ['i']])('throws on malformed install ids: %j', (install_ids) => {
    expect(() => parseLimits({ read_only: false, account_id: 'a', install_ids })).toThrow();
  });
});
