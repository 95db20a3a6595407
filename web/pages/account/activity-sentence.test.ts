import { describe, expect, it } from 'vitest';
import type { Entry } from '../../api/activity.ts';
import { meansOf, sentenceOf } from './activity-sentence.ts';

const ACTIONS: readonly Entry['action'][] = [
  'account.create',
  'account.update',
  'account_user.invite',
  'account_user.add',
  'account_user.accept',
  'account_user.update',
  'account_user.remove',
  'site.create',
  'site.update',
  'site.delete',
  'install.create',
  'install.update',
  'install.delete',
  'install.switch_core',
  'domain.create',
  'domain.update',
  'domain.delete',
  'backup.create',
  'backup.restore',
  'cache.purge',
  'offload.update',
  'ssh_key.create',
  'ssh_key.delete',
  'credential.create',
  'credential.revoke',
  'session.create',
  'session.end',
  'password.set',
  'password.change',
  'second_factor.enable',
  'second_factor.disable',
  'second_factor.renew_codes',
  'profile.update',
];

const told = (action: Entry['action'], subject_name: string, details: Entry['details'] = null) =>
  sentenceOf({ action, subject_name, details, subject_id: 's', user_id: 'u', user_name: 'Frida Full' });

describe('a deed', () => {
  it('is told in a sentence whatever it was, with details or without', () => {
    for (const action of ACTIONS) {
      expect(told(action, 'shop'), action).toMatch(/^Frida Full [a-z].*[^.]$/);
      expect(told(action, 'shop'), action).not.toMatch(/undefined|null|\[object/);
    }
  });

  it.each([
    [told('domain.create', 'shop.example'), 'added the domain shop.example'],
    [told('site.update', 'Shop', { from: 'Store', to: 'Shop' }), 'renamed the site Store to Shop'],
    [
      told('account_user.invite', 'a@b.example', { roles: 'billing, full' }),
      'invited a@b.example as Full, with billing',
    ],
    [told('account_user.invite', 'a@b.example', { again: true }), 'invited a@b.example again'],
    [
      told('account_user.update', 'a@b.example', { roles: 'partial', installs: 2 }),
      'made a@b.example Partial and gave a@b.example 2 installs',
    ],
    [
      told('install.create', 'shop', { site: 'Shop', environment: 'production' }),
      'created the install shop in the site Shop',
    ],
    [
      told('install.update', 'shop', { site: 'Shop', environment: 'staging' }),
      'moved the install shop into the site Shop as Staging',
    ],
    [told('install.update', 'shop', { site: null }), 'took the install shop out of its site'],
    [told('install.update', 'shop', { environment: 'production' }), 'made the install shop Production'],
    [told('domain.update', 'a.example', { primary: true }), 'made a.example the primary domain'],
    [told('domain.update', 'a.example', { redirect_to: 'b.example' }), 'redirected a.example to b.example'],
    [told('domain.update', 'a.example', { redirect_to: null }), 'ended the redirect of a.example'],
    [
      told('backup.restore', 'before', { from: 'shop', to: 'shop2' }),
      'restored the backup “before” of shop into shop2',
    ],
    [told('cache.purge', 'shop', { type: 'page' }), 'emptied the page cache of shop'],
    [
      told('account.update', 'New', { from: 'Old', to: 'New', requires_second_factor: true }),
      'renamed the account Old to New and demanded a second factor',
    ],
    [told('session.end', 'a@b.example', { sessions: 2 }), 'ended 2 other sessions'],
  ])('%s', (sentence, expected) => {
    expect(sentence).toBe(`Frida Full ${expected}`);
  });

  it('done by nobody who has a name begins with a capital all the same', () => {
    const entry = { subject_id: null, user_id: null, details: null, subject_name: 'Demo' } as const;
    expect(sentenceOf({ ...entry, action: 'account.create', user_name: 'the operator' })).toBe(
      'The operator created the account Demo',
    );
  });

  it('done to oneself says so', () => {
    const entry = {
      subject_id: 'u',
      user_id: 'u',
      details: null,
      user_name: 'Ann',
      subject_name: 'a@b.example',
    };
    expect(sentenceOf({ ...entry, action: 'account_user.remove' })).toBe('Ann left the account');
    expect(sentenceOf({ ...entry, action: 'second_factor.disable' })).toBe(
      'Ann switched their second factor off',
    );
  });
});

it('tells by which way, and with which credential', () => {
  expect(meansOf({ means: 'portal', credential_name: null })).toBe('Portal');
  expect(meansOf({ means: 'api', credential_name: 'Deploy' })).toBe('API, with Deploy');
});
