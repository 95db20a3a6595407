import { describe, expect, it } from 'vitest';
import type { Entry } from '../../api/activity.ts';
import { sentenceOf, sourceOf } from './activity-sentence.ts';
import { countOfEntries } from './activity-words.ts';
import { nameAndAddress } from './person-name.ts';

const ACTIONS: readonly Entry['action'][] = [
  'account.create',
  'account.update',
  'account.limit',
  'account_user.invite',
  'account_user.add',
  'account_user.accept',
  'account_user.update',
  'account_user.remove',
  'site.create',
  'site.update',
  'site.delete',
  'tag.rename',
  'tag.remove',
  'site_transfer.request',
  'site_transfer.accept',
  'site_transfer.cancel',
  'site_transfer.complete',
  'site_transfer.fail',
  'install.create',
  'install.update',
  'install.delete',
  'install.restore',
  'install.switch_core',
  'install.update_php',
  'install.update_wordpress',
  'install.change_wordpress',
  'install.update_policy',
  'install.move',
  'install.rebuild',
  'install.copy',
  'install.create_import_key',
  'install.renew_import_key',
  'install.delete_import_key',
  'install.login_link',
  'install.database_link',
  'install.update_mail',
  'install.wp_cli',
  'install.update_php_limits',
  'install.restart_php',
  'domain.create',
  'domain.update',
  'domain.delete',
  'domain.verify',
  'domain.lose',
  'backup.create',
  'backup.restore',
  'operation.cancel',
  'operation.retry',
  'backup.delete',
  'backup.pack',
  'backup.download_file',
  'cache.purge',
  'cache.rules',
  'protection.update',
  'redirect.create',
  'redirect.update',
  'redirect.delete',
  'redirect.import',
  'offload.update',
  'offload.remove',
  'ssh_key.create',
  'ssh_key.delete',
  'credential.create',
  'credential.revoke',
  'session.create',
  'session.end',
  'password.link',
  'password.set',
  'password.change',
  'second_factor.enable',
  'second_factor.disable',
  'second_factor.renew_codes',
  'second_factor.refuse',
  'passkey.create',
  'passkey.update',
  'passkey.delete',
  'passkey.refuse',
  'profile.update',
];

const sentence = (action: Entry['action'], subject_name: string, details: Entry['details'] = null) =>
  sentenceOf({ action, subject_name, details, subject_id: 's', user_id: 'u', user_name: 'Frida Full' });

describe('sentenceOf', () => {
  it('has a sentence for every action, with or without details', () => {
    for (const action of ACTIONS) {
      expect(sentence(action, 'shop'), action).toMatch(/^Frida Full [a-z].*[^.]$/);
      expect(sentence(action, 'shop'), action).not.toMatch(/undefined|null|\[object/);
    }
  });

  it.each([
    [sentence('domain.create', 'shop.example'), 'added the domain shop.example'],
    [
      sentence('protection.update', 'shop', { password: 'on', new_password: true }),
      'turned on the password for visitors of shop',
    ],
    [
      sentence('redirect.import', 'shop', { count: 2, replace: true }),
      'replaced the redirects of shop by 2 redirects',
    ],
    [
      sentence('credential.create', 'deploy', { of: 'paul@a.example' }),
      'created the API credential deploy of paul@a.example',
    ],
    [sentence('session.end', 'a@b.example', { signed_out: true }), 'signed out'],
    [sentence('password.link', 'paul@a.example'), 'created a password link for paul@a.example'],
    [sentence('site.update', 'Shop', { tags: 'new, VIP' }), 'set the tags of the site Shop to new, VIP'],
    [sentence('tag.rename', 'VIP', { to: 'Gold', sites: 2 }), 'renamed the tag VIP to Gold in 2 sites'],
    [sentence('site.update', 'Shop', { from: 'Store', to: 'Shop' }), 'renamed the site Store to Shop'],
    [
      sentence('site.update', 'Shop', { sandbox: true, transferable: false }),
      'marked the site Shop as a sandbox and marked the site Shop as not transferable',
    ],
    [
      sentence('site_transfer.request', 'Shop', { from: 'Agency' }),
      'offered the site Shop of the account Agency',
    ],
    [
      sentence('site_transfer.complete', 'Shop', { to: 'Customer' }),
      'transferred the site Shop to the account Customer',
    ],
    [
      sentence('account_user.invite', 'a@b.example', { roles: 'billing, full' }),
      'invited a@b.example as Full, with billing',
    ],
    [sentence('account_user.invite', 'a@b.example', { again: true }), 'invited a@b.example again'],
    [
      sentence('account_user.update', 'a@b.example', { roles: 'partial', installs: 2 }),
      'made a@b.example Partial and gave a@b.example 2 installs',
    ],
    [sentence('install.create', 'shop', { again: true }), 'tried again to create the install shop'],
    [
      sentence('install.create', 'shop', { site: 'Shop', environment: 'production' }),
      'created the install shop in the site Shop',
    ],
    [
      sentence('install.update', 'shop', { site: 'Shop', environment: 'staging' }),
      'moved the install shop into the site Shop as Staging',
    ],
    [sentence('install.update', 'shop', { site: null }), 'detached the install shop from its site'],
    [sentence('install.update', 'shop', { environment: 'production' }), 'made the install shop Production'],
    [
      sentence('install.update', 'shop', { defer_wordpress_upgrades_until: '2026-02-01T00:00:00.000Z' }),
      'deferred upgrades of WordPress of shop until 2026-02-01',
    ],
    [
      sentence('install.update', 'shop', { defer_wordpress_upgrades_until: null }),
      'ended the deferral of WordPress upgrades of shop',
    ],
    [
      sentence('install.login_link', 'shop', { user: 'admin' }),
      'created a link that signs in to WordPress of shop as admin',
    ],
    [sentence('install.database_link', 'shop'), 'created a link that opens the database of shop'],
    [sentence('domain.update', 'a.example', { primary: true }), 'made a.example the primary domain'],
    [
      sentence('domain.update', 'a.example', { redirect_to: 'b.example' }),
      'redirected a.example to b.example',
    ],
    [sentence('domain.update', 'a.example', { redirect_to: null }), 'ended the redirect of a.example'],
    [
      sentence('backup.restore', 'before', { from: 'shop', to: 'shop', files: false }),
      'restored the database of the backup “before”',
    ],
    [
      sentence('backup.restore', 'before', {
        from: 'shop',
        to: 'shop',
        database: false,
        paths: 3,
        tables: 1,
      }),
      'restored 3 files and folders and 1 table of the backup “before”',
    ],
    [
      sentence('backup.download_file', 'before', { path: 'htdocs/wp-config.php' }),
      'downloaded htdocs/wp-config.php of the backup “before”',
    ],
    [
      sentence('backup.restore', 'before', { from: 'shop', to: 'shop2' }),
      'restored the backup “before” of shop into shop2',
    ],
    [
      sentence('install.copy', 'shop', { to: 'shop2', backup_kept: false }),
      'copied the install shop into shop2',
    ],
    [
      sentence('install.copy', 'shop', { to: 'shop2', backup_kept: true }),
      'copied the install shop into shop2 and kept the backup',
    ],
    [sentence('cache.purge', 'shop', { type: 'page' }), 'purged the page cache of shop'],
    [sentence('cache.purge', 'shop', { type: 'all' }), 'purged all caches of shop'],
    [
      sentence('cache.purge', 'shop', { type: 'page', path_count: 1, paths: '/a/' }),
      'purged the page /a/ of shop',
    ],
    [
      sentence('cache.purge', 'shop', { type: 'page', path_count: 2, paths: '/a/ /b' }),
      'purged 2 pages (/a/ /b) of shop',
    ],
    [
      sentence('account.update', 'New', { from: 'Old', to: 'New', requires_second_factor: true }),
      'renamed the account Old to New and required a second factor',
    ],
    [sentence('session.end', 'a@b.example', { sessions: 2 }), 'ended 2 other sessions'],
    [
      sentence('second_factor.refuse', 'a@b.example', { wrong_codes: 5 }),
      'entered the password of a@b.example, then 5 wrong codes',
    ],
  ])('%s', (sentence, expected) => {
    expect(sentence).toBe(`Frida Full ${expected}`);
  });

  it('capitalises "the operator"', () => {
    const entry = { subject_id: null, user_id: null, details: null, subject_name: 'Demo' } as const;
    expect(sentenceOf({ ...entry, action: 'account.create', user_name: 'the operator' })).toBe(
      'The operator created the account Demo',
    );
  });

  it('shows the name without the email address', () => {
    const entry = { subject_id: null, user_id: 'u', details: null, subject_name: 'shop' } as const;
    expect(sentenceOf({ ...entry, action: 'site.create', user_name: 'Ann (Lee) (ann@people.example)' })).toBe(
      'Ann (Lee) created the site shop',
    );
    expect(nameAndAddress('Ann (Lee) (ann@people.example)').email).toBe('ann@people.example');
    expect(nameAndAddress('ann@people.example')).toEqual({ name: 'ann@people.example', email: null });
  });

  it('names the owner of what someone else changed', () => {
    const paul = { subject_id: 'p', subject_name: 'paul@people.example', details: null };
    const operator = { ...paul, user_id: null, user_name: 'the operator' };
    const himself = { ...paul, user_id: 'p', user_name: 'Paul (paul@people.example)' };
    const sentences = (entry: typeof operator | typeof himself, actions: readonly Entry['action'][]) =>
      actions.map((action) => sentenceOf({ ...entry, action }));
    const actions = ['profile.update', 'password.set', 'second_factor.disable', 'session.end'] as const;
    expect(sentences(operator, actions)).toEqual([
      'The operator changed the profile of paul@people.example',
      'The operator set the password of paul@people.example',
      'The operator turned off the second factor of paul@people.example',
      'The operator ended a session of paul@people.example',
    ]);
    const moved = {
      action: 'profile.update',
      details: { from: 'p@old.example', to: 'paul@people.example' },
    } as const;
    expect(sentenceOf({ ...himself, ...moved })).toBe(
      'Paul changed their email address from p@old.example to paul@people.example',
    );
    expect(sentenceOf({ ...operator, ...moved })).toBe(
      'The operator changed the email address of p@old.example to paul@people.example',
    );
    const appointed = { ...operator, action: 'profile.update', details: { is_operator: true } } as const;
    expect(sentenceOf(appointed)).toBe('The operator made paul@people.example an operator of the platform');
    expect(sentenceOf({ ...appointed, details: { is_operator: false } })).toBe(
      'The operator ended the rights of paul@people.example as an operator of the platform',
    );
    expect(sentences({ ...himself, subject_id: 'session' }, actions)).toEqual([
      'Paul changed their profile',
      'Paul set a password',
      'Paul turned off their second factor',
      'Paul ended a session',
    ]);
  });

  it('distinguishes leaving from declining', () => {
    const entry = { action: 'account_user.remove', subject_id: 'u', subject_name: 'a@b.example' } as const;
    const doer = { user_id: 'u', user_name: 'Ann (a@b.example)' };
    expect(sentenceOf({ ...entry, ...doer, details: { self: true } })).toBe('Ann left the account');
    expect(sentenceOf({ ...entry, ...doer, details: { declined: true } })).toBe(
      'Ann declined the invitation',
    );
  });

  it('names an unknown action', () => {
    const entry: Parameters<typeof sentenceOf>[0] = JSON.parse(
      '{"action":"cache.warm","subject_id":"c","subject_name":"shop","user_id":"u","user_name":"Ann","details":null}',
    );
    expect(sentenceOf(entry)).toBe('Ann performed cache.warm on shop');
  });

  it('describes what users do to themselves', () => {
    const entry = {
      subject_id: 'u',
      user_id: 'u',
      details: null,
      user_name: 'Ann',
      subject_name: 'a@b.example',
    };
    expect(sentenceOf({ ...entry, action: 'account_user.remove' })).toBe('Ann left the account');
    expect(sentenceOf({ ...entry, action: 'second_factor.disable' })).toBe(
      'Ann turned off their second factor',
    );
  });
});

it('names the source and the credential', () => {
  expect(sourceOf({ means: 'portal', credential_name: null })).toBe('Portal');
  expect(sourceOf({ means: 'api', credential_name: 'Deploy' })).toBe('API, with Deploy');
});

it('says where entries are that the server does not count', () => {
  expect([1, 9_999].map(countOfEntries)).toEqual(['1 entry', '9999 entries']);
  expect(countOfEntries(10_000)).toContain('the CSV file');
});
