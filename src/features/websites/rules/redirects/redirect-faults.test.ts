import { describe, expect, test } from 'vitest';
import type { PathRedirect } from '../../../../hosting/contract/website-rules.ts';
import { loadPatternEngine } from '../../../../hosting/policy/pattern-engine.ts';
import { endlessRedirects, faultsOfNumber, faultsOfRedirect } from './redirect-faults.ts';

const match = await loadPatternEngine();
type Short = [PathRedirect['match'], string, string];
const rule = ([kind, from, to]: Short): PathRedirect => ({
  match: kind,
  from,
  to,
  status: 301,
  keepQuery: true,
});

describe('a redirect', () => {
  test.each<[Short, string[]]>([
    [['exact', '/old', '/new/'], []],
    [['exact', '/caf%C3%A9', 'https://example.com:8443/x?y#z'], []],
    [['prefix', '/', 'https://example.com'], []],
    [['regex', '^/(\\d+)$', '/p?id=$1'], []],
    [['exact', 'old', '/new'], ['from invalid_format']],
    [['exact', '/old?page=1', '/new'], ['from invalid_format']],
    [['exact', '/a b', '/new'], ['from invalid_format']],
    [['exact', '/a*', '/new'], ['from invalid_format']],
    [['exact', '/a/../b', '/new'], ['from invalid_format']],
    [['exact', '/%zz', '/new'], ['from invalid_format']],
    [['exact', '/a%0d', '/new'], ['from invalid_format']],
    [['exact', 'https://example.com/a', '/new'], ['from invalid_format']],
    [['exact', '/a', 'new'], ['to invalid_format']],
    [['exact', '/a', '//evil.test'], ['to invalid_format']],
    [['exact', '/a', 'javascript:alert(1)'], ['to invalid_format']],
    [['exact', '/a', '/b c'], ['to invalid_format']],
    [['exact', '/a', '/b\r\nSet-Cookie: x'], ['to invalid_format']],
    [['regex', '^/(.*)$', 'https://$1.example.com/'], ['to invalid_format']],
    [['regex', '^/(.*)$', 'https://example$1'], ['to invalid_format']],
    [['regex', '^/(.*)$', '/$2'], ['to unknown_group']],
    [['regex', '(a+)+', '/x'], ['from invalid_pattern']],
    [['regex', '[a-z]{0,100}[a-z]{0,100}', '/x'], []],
    [['regex', 'a{100}b{100,}c{0,1}', '/x'], ['from invalid_pattern']],
    [
      ['regex', 'a{', 'x'],
      ['from invalid_pattern', 'to invalid_format'],
    ],
  ])('%j has the faults %j', ([kind, from, to], expected) => {
    const faults = faultsOfRedirect({ match: kind, from, to });
    expect(faults.map(({ field, code }) => `${field} ${code}`)).toEqual(expected);
  });
});

test('an install has at most 500 redirects, and 50 expressions', () => {
  const many = (count: number, kind: PathRedirect['match']) =>
    Array.from({ length: count }, (_, at) => rule([kind, `/${at}`, '/x']));
  expect(faultsOfNumber(many(500, 'exact'))).toEqual([]);
  expect(faultsOfNumber(many(501, 'exact'))).toMatchObject([{ field: 'redirects', code: 'too_many' }]);
  expect(faultsOfNumber(many(50, 'regex'))).toEqual([]);
  expect(faultsOfNumber(many(51, 'regex'))).toMatchObject([{ field: 'match', code: 'too_many' }]);
});

describe('redirects that never end', () => {
  test.each<[Short[], number[]]>([
    [[['exact', '/a', '/b']], []],
    [[['exact', '/a', '/a']], [0]],
    // Adds a slash: the edge leaves out a redirect to the address that was asked for.
    [[['exact', '/a', '/a/']], []],
    [
      [
        ['exact', '/a', '/b'],
        ['exact', '/b', '/a'],
      ],
      [0, 1],
    ],
    [
      [
        ['exact', '/x', '/a'],
        ['exact', '/a', '/b'],
        ['exact', '/b', '/a'],
      ],
      [0, 1, 2],
    ],
    [[['prefix', '/', '/new']], [0]],
    [[['prefix', '/', 'https://elsewhere.test']], []],
    // To its main name: that one leaves the redirect out.
    [[['prefix', '/', 'https://www.own.test']], []],
    [[['prefix', '/', 'https://www.own.test/new']], [0]],
    [[['prefix', '/blog', '/blog/news']], [0]],
    [[['prefix', '/blog', '/news']], []],
    [[['regex', '^/(.*)$', '/x/$1']], [0]],
    [[['regex', '^/p/(\\d+)$', '/posts/$1']], []],
    [[['exact', '/a%20b', '/a b']], []],
    [[['exact', '/é', '/%C3%A9']], [0]],
    [Array.from({ length: 7 }, (_, at): Short => ['exact', `/${at}`, `/${at + 1}`]), [0, 1]],
  ])('%j: %j', (rules, expected) => {
    expect(endlessRedirects(rules.map(rule), new Set(['www.own.test']), match)).toEqual(expected);
  });
});

test('the check compares a limited number of paths with patterns', () => {
  let bytes = 0;
  const counting = (pattern: string, path: string) => {
    bytes += path.length;
    return match(pattern, path);
  };
  const far = 'a'.repeat(240);
  const rules = Array.from({ length: 450 }, (_, at) => rule(['exact', `/${at}`, `/${far}${at}`]));
  const patterns = Array.from({ length: 50 }, (_, at) => rule(['regex', `^/x${at}`, '/y']));
  expect(endlessRedirects([...rules, ...patterns], new Set(), counting)).toEqual([]);
  expect(bytes).toBeGreaterThan(400_000);
  expect(bytes).toBeLessThan(600_000);
  bytes = 0;
  const long = rule(['exact', '/a', `/${'b'.repeat(300)}`]);
  const back = rule(['regex', 'b', '/a']);
  expect(endlessRedirects([long, back], new Set(), counting)).toEqual([]);
  expect(bytes).toBe(0);
  // The same path is compared once.
  const same = Array.from({ length: 100 }, (_, at) => rule(['exact', `/${at}`, '/same']));
  endlessRedirects([...same, rule(['regex', '^/other', '/y'])], new Set(), counting);
  expect(bytes).toBeLessThan(20);
});
