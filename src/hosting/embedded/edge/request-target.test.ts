import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HIDDEN, SHOWN } from '../../policy/deny-rules.fixture.ts';
import { folderLink, isHidden, parseSitePath, parseTarget, uriOf } from './request-target.ts';

describe('parseTarget', () => {
  test.each([
    ['/', '/', '', null],
    ['/a/b?c=d&e', '/a/b', '?c=d&e', null],
    ['/?', '/', '?', null],
    ['//evil.test/x?//', '//evil.test/x', '?//', null],
    ['http://a.test/x?y', '/x', '?y', 'a.test'],
    ['HTTPS://a.test:8444?y', '/', '?y', 'a.test:8444'],
    ['http://a.test', '/', '', 'a.test'],
  ])('%s', (text, path, query, authority) => {
    expect(parseTarget(text)).toEqual({ path, query, authority });
  });

  test.each([
    '',
    '*',
    'a',
    '@evil.test',
    '/a b',
    '/a\\b',
    '/a#b',
    '/a\rb',
    '/a\nb',
    '/\x00',
    '/\x7f',
    '/é',
    'ftp://a/',
  ])('refuses %j', (text) => {
    expect(parseTarget(text)).toBeNull();
  });
});

describe('parseSitePath', () => {
  test.each([
    ['/', '', true],
    ['/a', 'a', false],
    ['/a/', 'a', true],
    ['//a///b//', 'a/b', true],
    ['/a%20b/%C3%A9', 'a b/é', false],
    ['/a%2Fb', 'a/b', false],
    ['/%2F%2Fevil.test', 'evil.test', false],
    ['/a...b/..c', 'a...b/..c', false],
    ['/100%25', '100%', false],
    // Decoded exactly once.
    ['/%252e%252e/x', '%2e%2e/x', false],
  ])('%s', (text, relative, folder) => {
    expect(parseSitePath(text)).toEqual({ relative, folder });
  });

  test.each([
    '/..',
    '/../x',
    '/a/../b',
    '/a/./b',
    '/.',
    '/%2e%2e/x',
    '/%2E%2e/x',
    '/.%2e/x',
    '/a%2F..%2Fb',
    '/..%2f..%2fetc/passwd',
    '/..\\x',
    '/..%5cx',
    '/a%00.html',
    '/%0d%0aX:1',
    '/%7f',
    '/%',
    '/%zz',
    '/%c3%28',
    '/%ff',
  ])('refuses %s', (text) => {
    expect(parseSitePath(text)).toBeNull();
  });

  test('for any input, no segment leads up or out, and the link never leaves the website', () => {
    const piece = fc.constantFrom(
      '/',
      '.',
      '..',
      '%2e',
      '%2E',
      '%2f',
      '%5c',
      '\\',
      'a',
      '%00',
      '%',
      '//',
      ':',
      '@',
      '%c3%a9',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const path = parseSitePath(`/${pieces.join('')}`);
        if (path === null) return;
        const segments = path.relative.split('/');
        expect(segments).not.toContain('..');
        expect(segments).not.toContain('.');
        expect(path.relative).not.toMatch(/[\\\0]|^\/|\/\/|\/$/);
        const link = new URL(folderLink(path), 'http://a.test');
        expect(link.host).toBe('a.test');
        expect(parseSitePath(link.pathname)).toEqual({ ...path, folder: true });
      }),
      { numRuns: 2000 },
    );
  });
});

test('hidden files', () => {
  const paths = [...HIDDEN, ...SHOWN].map((path) => path.slice(1));
  expect(paths.filter(isHidden)).toEqual(HIDDEN.map((path) => path.slice(1)));
});

test.each([
  ['/', '/'],
  ['//a', '/a'],
  ['/a//', '/a/'],
  ['/%C3%A9/b.html', '/é/b.html'],
])('the normalised path of %s is %s', (path, uri) => {
  const parsed = parseSitePath(path);
  expect(parsed && uriOf(parsed)).toBe(uri);
});
