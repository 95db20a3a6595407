import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../../test/any-character.ts';
import { rounds } from '../../../../test/rounds.ts';
import { covers, isWildcard, parseDomainName } from './domain-name.ts';

const SITE_DOMAIN = 'sites.example.net';
const PORTAL = 'panel.provider.example';
const parse = (text: string) => parseDomainName(text, { siteDomain: SITE_DOMAIN, portalHost: PORTAL });
const LABEL_63 = 'a'.repeat(63);

describe('valid names and their stored form', () => {
  it.each([
    ['example.com', 'example.com'],
    ['WWW.Example.COM', 'www.example.com'],
    [' www.example.com\n', 'www.example.com'],
    ['example.com.', 'example.com'],
    ['*.example.com', '*.example.com'],
    ['*.EXAMPLE.com.', '*.example.com'],
    ['*.münchen.example', '*.xn--mnchen-3ya.example'],
    ['münchen.de', 'xn--mnchen-3ya.de'],
    ['MÜNCHEN.de', 'xn--mnchen-3ya.de'],
    ['mu\u0308nchen.de', 'xn--mnchen-3ya.de'],
    ['xn--mnchen-3ya.de', 'xn--mnchen-3ya.de'],
    ['faß.de', 'xn--fa-hia.de'],
    ['例え。テスト.example', 'xn--r8jz45g.xn--zckzah.example'],
    ['shop.example.co.uk', 'shop.example.co.uk'],
    ['a.b.c.d.e.example.org', 'a.b.c.d.e.example.org'],
    ['1.example', '1.example'],
    ['123.com', '123.com'],
    ['a--b.com', 'a--b.com'],
    ['example.test', 'example.test'],
    [`${LABEL_63}.com`, `${LABEL_63}.com`],
    ['my.github.io', 'my.github.io'],
    ['examples.net', 'examples.net'],
    ['sites.example.net.example.com', 'sites.example.net.example.com'],
    ['othersites.example.net', 'othersites.example.net'],
    ['shop.local', 'shop.local'],
    ['shop.internal', 'shop.internal'],
    ['invalid.example', 'invalid.example'],
  ])('%j is %j', (text, name) => {
    expect(parse(text)).toEqual({ ok: true, name });
    expect(isWildcard(name)).toBe(text.trim().startsWith('*'));
  });
});

describe('refused names', () => {
  it.each([
    ['', 'invalid_format'],
    ['a.a', 'invalid_format'],
    ['¡。𝐀', 'invalid_format'],
    ['.', 'invalid_format'],
    ['..', 'invalid_format'],
    ['*', 'invalid_format'],
    ['*.', 'invalid_format'],
    ['*.*.example.com', 'invalid_format'],
    ['www.*.example.com', 'invalid_format'],
    ['*www.example.com', 'invalid_format'],
    ['.example.com', 'invalid_format'],
    ['example..com', 'invalid_format'],
    ['example.com..', 'invalid_format'],
    ['-a.example.com', 'invalid_format'],
    ['a-.example.com', 'invalid_format'],
    ['_dmarc.example.com', 'invalid_format'],
    ['ex ample.com', 'invalid_format'],
    ['exam%70le.com', 'invalid_format'],
    ['example.com:443', 'invalid_format'],
    ['https://example.com', 'invalid_format'],
    ['example.com/path', 'invalid_format'],
    ['user@example.com', 'invalid_format'],
    ['example.com?x', 'invalid_format'],
    ['example.com#x', 'invalid_format'],
    ['example\\.com', 'invalid_format'],
    ['exa\tmple.com', 'invalid_format'],
    ['exa\nmple.com', 'invalid_format'],
    ['xn--\u00fc.com', 'invalid_format'],
    ['xn--a.com', 'invalid_format'],
    [`${LABEL_63}a.com`, 'invalid_format'],
    [`${`${LABEL_63}.`.repeat(4)}com`, 'invalid_format'],
    ['192.0.2.1', 'ip_address'],
    ['*.192.0.2.1', 'ip_address'],
    ['127.1', 'ip_address'],
    ['0x7f000001', 'ip_address'],
    ['2130706433', 'ip_address'],
    ['１９２.０.２.１', 'ip_address'],
    ['١٩٢.٠.٢.١', 'invalid_format'],
    ['[2001:db8::1]', 'ip_address'],
    ['2001:db8::1', 'ip_address'],
    ['::1', 'ip_address'],
    ['com', 'public_suffix'],
    ['localhost', 'public_suffix'],
    ['intranet', 'public_suffix'],
    ['co.uk', 'public_suffix'],
    ['*.co.uk', 'public_suffix'],
    ['*.com', 'public_suffix'],
    ['github.io', 'public_suffix'],
    ['食狮.公司.cn', ''],
    ['公司.cn', 'public_suffix'],
    [SITE_DOMAIN, 'reserved'],
    [`*.${SITE_DOMAIN}`, 'reserved'],
    [`shop.${SITE_DOMAIN}`, 'reserved'],
    [`a.b.SITES.example.NET.`, 'reserved'],
    ['example.net', 'reserved'],
    ['*.example.net', 'reserved'],
    ['EXAMPLE.net.', 'reserved'],
    ['homeport.invalid', 'reserved'],
    ['*.homeport.invalid', 'reserved'],
    ['Homeport.INVALID.', 'reserved'],
    ['homeport.ｉｎｖａｌｉｄ', 'reserved'],
    ['*.invalid', 'public_suffix'],
    ['shop.localhost', 'reserved'],
    ['shop.onion', 'reserved'],
    ['shop.alt', 'reserved'],
  ])('%j: %s', (text, code) => {
    const result = parse(text);
    if (code === '') expect(result.ok).toBe(true);
    else
      expect(result).toMatchObject({
        ok: false,
        fault: { code, message: expect.stringMatching(/^\S.*\S$/) },
      });
  });

  it('reports the platform’s domain as reserved if it is not a public suffix', () => {
    const own = { siteDomain: 'localhost', portalHost: 'localhost' };
    expect(parseDomainName('shop.localhost', own)).toMatchObject({ fault: { code: 'reserved' } });
    expect(parseDomainName('localhost', own)).toMatchObject({ fault: { code: 'reserved' } });
    expect(parseDomainName('www.example.com', own)).toEqual({ ok: true, name: 'www.example.com' });
  });
});

describe('mistakes', () => {
  it.each([
    [
      'https://shop.example.com/cart?x=1',
      'Domain name must be the name alone, without a protocol and a path: shop.example.com',
    ],
    ['shop.example.com/cart', 'Domain name must be the name alone, without a path: shop.example.com'],
    ['shop.example.com:8443', 'Domain name must be the name alone, without a port'],
    ['ada@example.com', 'Domain name must be what follows the @ of an email address'],
    ['my_shop.example.com', 'Domain name must not contain an underscore; names of websites cannot have one'],
    ['my-server', 'my-server is not a whole name; add its domain, as in my-server.example.com'],
    ['com', 'com is a public suffix; a domain is at least one label longer'],
  ])('%j: %s', (text, message) => {
    expect(parse(text)).toMatchObject({ ok: false, fault: { message } });
  });
});

describe('the portal’s host name', () => {
  it.each([
    [PORTAL, 'panel.provider.example is the address of this portal; no website can use it'],
    [
      ' PANEL.Provider.Example.',
      'panel.provider.example is the address of this portal; no website can use it',
    ],
    [
      '*.provider.example',
      '*.provider.example covers panel.provider.example, the address of this portal; add the names that you need one by one',
    ],
  ])('%j is refused', (text, message) => {
    expect(parse(text)).toEqual({ ok: false, fault: { code: 'reserved', message } });
  });

  it.each(['www.provider.example', '*.www.provider.example', 'panel.provider.example.example.com'])(
    '%j is another',
    (name) => {
      expect(parse(name)).toEqual({ ok: true, name });
      expect(covers(name, PORTAL)).toBe(false);
    },
  );

  it.each([
    ['provider.example', 'above'],
    ['a.panel.provider.example', 'below'],
    ['*.panel.provider.example', 'below'],
    ['a.b.PANEL.provider.example', 'below'],
  ])('%j is refused, because it is %s', (name, where) => {
    const message = `${name.toLowerCase()} is ${where} panel.provider.example, a name of this platform; no website can use it`;
    expect(parse(name)).toEqual({ ok: false, fault: { code: 'reserved', message } });
  });

  it.each([
    ['web1.hosts.example', 'web1.hosts.example is a name of this platform; no website can use it'],
    [
      'hosts.example',
      'hosts.example is above web1.hosts.example, a name of this platform; no website can use it',
    ],
    [
      '*.hosts.example',
      '*.hosts.example is above web1.hosts.example, a name of this platform; no website can use it',
    ],
    [
      'a.web1.hosts.example',
      'a.web1.hosts.example is below web1.hosts.example, a name of this platform; no website can use it',
    ],
  ])('%j is refused if a host has a public name', (name, message) => {
    const names = {
      siteDomain: SITE_DOMAIN,
      portalHost: PORTAL,
      hostNames: ['203.0.113.7', 'web1.hosts.example'],
    };
    expect(parseDomainName(name, names)).toEqual({ ok: false, fault: { code: 'reserved', message } });
  });

  it.each(['localhost', '192.0.2.1', '[2001:db8::1]'])('%j is covered by no domain', (portalHost) => {
    expect(parseDomainName('*.example.com', { siteDomain: SITE_DOMAIN, portalHost }).ok).toBe(true);
    expect(covers('*.localhost', portalHost)).toBe(false);
  });
});

describe('for any text', () => {
  const label = fc
    .stringMatching(/^[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?$/)
    .filter((text) => !/^.{2}--/.test(text));
  const hostName = fc
    .array(label, { minLength: 1, maxLength: 4 })
    .map((labels) => `${labels.join('.')}.example`);

  it('never throws, and accepts only host names in stored form', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: anyCharacter }),
          fc.string({ unit: 'grapheme' }),
          fc.domain(),
          fc.webAuthority(),
          fc.ipV4Extended(),
          fc.tuple(fc.string({ unit: anyCharacter }), fc.domain()).map((parts) => parts.join('.')),
        ),
        (text) => {
          const result = parse(text);
          if (!result.ok) return;
          expect(result.name).toMatch(/^(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/);
          expect(result.name.length).toBeLessThanOrEqual(253);
          expect(`.${result.name}`.endsWith(`.${SITE_DOMAIN}`)).toBe(false);
          // Parsing the stored form gives the same form.
          expect(parse(result.name)).toEqual(result);
        },
      ),
      { numRuns: rounds(300, 2_000) },
    );
  });

  it('accepts every host name below a domain, in any case, with or without the final dot', () => {
    fc.assert(
      fc.property(hostName, fc.boolean(), fc.boolean(), (name, wild, dot) => {
        const expected = `${wild ? '*.' : ''}${name}`;
        expect(parse(`${expected.toUpperCase()}${dot ? '.' : ''}`)).toEqual({ ok: true, name: expected });
      }),
    );
  });

  it('refuses every address', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.ipV4Extended(),
          fc.ipV6(),
          fc.ipV6().map((text) => `[${text}]`),
        ),
        (text) => {
          expect(parse(text), text).toMatchObject({ ok: false });
        },
      ),
    );
  });

  it('refuses every name under the site domain', () => {
    fc.assert(
      fc.property(label, (name) => {
        expect(parse(`${name}.${SITE_DOMAIN}`)).toMatchObject({ ok: false, fault: { code: 'reserved' } });
      }),
    );
  });
});
