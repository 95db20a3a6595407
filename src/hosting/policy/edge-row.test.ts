import { describe, expect, test } from 'vitest';
import { NO_RULES } from '../contract/website-rules.ts';
import { certificateId } from './certificate-id.ts';
import { siteState } from './edge.fixture.ts';
import { parseRow, type RowFacts, rowOf, sealRow } from './edge-row.ts';
import { hashVisitorPassword } from './visitor-password.ts';

const FACTS: RowFacts = {
  home: '/srv/one',
  root: '/srv/one/htdocs',
  php: 'unix:/run/one.sock',
  uid: 1000,
  defaultDomain: 'one.hosting.test',
  s3: { endpoint: 'http://localhost:9000', pathStyle: true },
};
const certificate = { chain: 'c', key: 'k', notAfter: '2026-03-01T00:00:00.000Z' };
const REDIRECT = { from: '/', match: 'exact', status: 301, keepQuery: true };
const state = siteState(
  'one',
  [
    'one.hosting.test',
    { name: '*.one.test', forceHttps: true, certificate },
    { name: 'old.test', redirectTo: 'one.hosting.test' },
  ],
  {
    offload: {
      bucket: 'media',
      region: 'eu-central-1',
      paths: [
        { path: '/a/', excludedPaths: ['/a//b/'], redirectType: 'break' },
        { path: '/a/longer', excludedPaths: [], redirectType: 'permanent' },
        { path: '/', excludedPaths: [], redirectType: 'break' },
      ],
    },
  },
);

describe('the row of an install', () => {
  const row = rowOf(state, FACTS);

  test('holds its names with the ids of certificates, and no key', () => {
    const plain = { redirectTo: null, forceHttps: false, certificate: null, certifiedUntil: null };
    expect(row.names).toEqual({
      'one.hosting.test': { ...plain, default: true },
      '*.one.test': {
        ...plain,
        forceHttps: true,
        certificate: certificateId(certificate),
        certifiedUntil: Date.parse(certificate.notAfter),
        default: false,
      },
      'old.test': { ...plain, redirectTo: 'one.hosting.test', default: false },
    });
    expect(JSON.stringify(row)).not.toContain('"k"');
  });

  test('holds the offload rules, longest path first', () => {
    expect(row.offload).toEqual({
      base: 'http://localhost:9000/media',
      fetchBase: 'http://127.0.0.1:9000/media',
      rules: [
        { path: 'a/longer', excluded: [], type: 'permanent' },
        { path: 'a', excluded: ['a/b'], type: 'break' },
        { path: '', excluded: [], type: 'break' },
      ],
    });
  });

  test('begins with its id, and is read back', () => {
    const text = JSON.stringify(row);
    expect(text.startsWith(`{"version":1,"id":"${state.id}"`)).toBe(true);
    expect(parseRow(text)).toEqual(row);
  });

  test('has another revision after each change', () => {
    expect(rowOf(state, FACTS).revision).toBe(row.revision);
    expect(sealRow(row)).toEqual(row);
    const others = [
      rowOf({ ...state, name: 'two' }, FACTS),
      rowOf(state, { ...FACTS, uid: 1001 }),
      rowOf({ ...state, hostnames: [] }, FACTS),
      sealRow({ ...row, noindex: 'all' }),
    ];
    expect(new Set([row, ...others].map(({ revision }) => revision)).size).toBe(5);
  });

  test('holds the rules of the install', async () => {
    const password = {
      user: 'guest',
      hash: await hashVisitorPassword('x'),
      exemptAddresses: ['2001:db8::/32'],
      passKey: 'k'.repeat(43),
    };
    const ruled = rowOf(
      {
        ...state,
        rules: {
          ...NO_RULES,
          blockXmlrpc: true,
          noindex: true,
          blockedAddresses: ['192.0.2.0/24'],
          password,
          redirects: [{ match: 'regex', from: '^/a$', to: '/b', status: 302, keepQuery: false }],
          cache: { uncachedPaths: [], bypassCookies: ['c*'], ignoredParameters: ['p'], pageSeconds: 600 },
        },
      },
      FACTS,
    );
    expect(ruled).toMatchObject({
      noindex: 'all',
      xmlrpc: false,
      blocked: { ipv4: [['c0000200', 'c00002ff']], ipv6: [] },
      protect: { realm: 'one', users: { guest: password.hash }, passKey: password.passKey },
      redirects: [{ match: 'regex', from: '^/a\\z', to: '/b', status: 302, keepQuery: false }],
      pages: { seconds: 600, bypassCookies: ['c*'], ignoredParameters: ['p'] },
    });
    expect(parseRow(JSON.stringify(ruled))).toEqual(ruled);
    expect(rowOf({ ...state, rules: NO_RULES }, FACTS)).toEqual(row);
  });

  test('needs a possible bucket', () => {
    const offload = { bucket: 'x/../y', region: 'eu', paths: [] };
    expect(() => rowOf({ ...state, offload }, FACTS)).toThrow('is not a valid bucket name');
  });
});

test.each([
  ['', 'the row is not JSON'],
  ['[]', 'the row does not match its schema at /'],
  [{ root: 'x' }, 'the row does not match its schema at /root'],
  [{ php: 'tcp:80' }, 'the row does not match its schema at /php'],
  [{ names: { '../x': {} } }, 'the row does not match its schema at /names'],
  [{ deny: ['a*b'] }, 'the row does not match its schema at /deny/0'],
  [{ redirects: [{ ...REDIRECT, to: '//x.test' }] }, 'schema at /redirects/0/to'],
  [{ redirects: [{ ...REDIRECT, to: '/a\r\nX: y' }] }, 'schema at /redirects/0/to'],
  [{ blocked: { ipv4: [['0a', '0b']], ipv6: [] } }, 'the row does not match its schema at /blocked/ipv4/0'],
  [{ protect: { realm: 'x', users: { ann: 'plain' } } }, 'the row does not match its schema at /protect'],
  [{ revision: '0'.repeat(64) }, 'the row does not match its revision'],
])('%j is not read: %s', (changes, message) => {
  const text = typeof changes === 'string' ? changes : JSON.stringify({ ...rowOf(state, FACTS), ...changes });
  expect(() => parseRow(text)).toThrow(message);
});
