import { describe, expect, it } from 'vitest';
import { concerns, parseChange } from './change.ts';

const domain = { topic: 'domain', account_id: 'a1', install_id: 'i1', id: 'd' };

describe('a change', () => {
  it('is parsed from what the server sends; other texts are not', () => {
    expect(parseChange('{"topic":"domain","account_id":"a1","install_id":"i1","id":"d"}')).toEqual(domain);
    expect(parseChange('{"topic":"account","account_id":"a1","install_id":null}')).toEqual({
      topic: 'account',
      account_id: 'a1',
      install_id: null,
      id: null,
    });
    for (const other of ['', 'null', '[]', '{"account_id":"a1"}']) expect(parseChange(other)).toBeNull();
  });

  it('concerns queries of its topic and its install or account', () => {
    expect(concerns(domain, ['domain', 'i1'])).toBe(true);
    expect(concerns(domain, ['domain', 'i2'])).toBe(false);
    expect(concerns(domain, ['backup', 'i1'])).toBe(false);
    const site = { topic: 'site', account_id: 'a1', install_id: null, id: 's1' };
    expect(concerns(site, ['site', 's1'])).toBe(true);
    // Installs have the tags of their site.
    expect(concerns(site, ['install', 'a1', 'list', {}])).toBe(true);
    expect(concerns(site, ['site', 'a1', 'tags'])).toBe(true);
  });

  it('to an install also concerns sites, which show their installs', () => {
    expect(concerns({ topic: 'install', account_id: 'a1', install_id: 'i1', id: 'i1' }, ['site', 'a1'])).toBe(
      true,
    );
  });

  it('to a domain also concerns the lists of installs and the attention of its account alone', () => {
    expect(concerns(domain, ['install', 'a1', 'list', {}])).toBe(true);
    expect(concerns(domain, ['site', 'a1', 'list', ''])).toBe(true);
    expect(concerns(domain, ['attention', 'a1'])).toBe(true);
    expect(concerns(domain, ['install', 'a2', 'list', {}])).toBe(false);
    expect(concerns(domain, ['attention', 'a2'])).toBe(false);
    expect(concerns(domain, ['install', 'a1'])).toBe(false);
  });

  it('to the activity also concerns webhooks, whose changes are entries', () => {
    const entry = { topic: 'activity', account_id: 'a1', install_id: null, id: null };
    expect(concerns(entry, ['webhook', 'w1'])).toBe(true);
    expect(concerns(domain, ['webhook', 'w1'])).toBe(false);
  });

  it('to a membership also concerns the session, which has the permissions', () => {
    expect(concerns({ topic: 'member', account_id: 'a1', install_id: null, id: null }, ['session'])).toBe(
      true,
    );
    expect(concerns(domain, ['session'])).toBe(false);
  });
});
