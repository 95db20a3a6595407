import type { PathRedirect } from '../contract/website-rules.ts';

/** Cases of redirect rules, for the rules and for their copy in Lua. Paths are decoded and normalised. */

const rule = (
  match: PathRedirect['match'],
  from: string,
  to: string,
  more: Partial<PathRedirect> = {},
): PathRedirect => ({ match, from, to, status: 301, keepQuery: true, ...more });

export const PATH_REDIRECTS: PathRedirect[] = [
  rule('exact', '/old', '/new'),
  rule('exact', '/old', '/second', { status: 302 }),
  rule('exact', '/with', '/new?b=1#part', { status: 302 }),
  rule('exact', '/plain/', '/new#part', { status: 302, keepQuery: false }),
  rule('exact', '/blog/exact', '/e'),
  rule('prefix', '/blog/2026', '/archive?y=2026'),
  rule('prefix', '/blog/', 'https://blog.test/x/', { status: 308 }),
  rule('exact', '/blog/late', '/never'),
  rule('prefix', '/up', '/'),
  rule('regex', '^/p/(\\d+)(-[a-z]+)?$', '/posts/$1', { status: 307 }),
  rule('regex', '^/q/(.*)/(.*)$', 'https://q.test/$2?from=$1'),
  rule('regex', '^/r(.*)$', '/$1'),
  rule('regex', 'é[^/]{2,3}$', '/$0'),
  rule('prefix', '/p/7', '/seven'),
];

/** A path, the visitor's query, and the target with its status; null without a redirect. */
export const PATH_REDIRECT_CASES: [string, string, [string, number] | null][] = [
  ['/old', '', ['/new', 301]],
  ['/old/', '', ['/new', 301]],
  ['/old', 'a=b', ['/new?a=b', 301]],
  ['/older', '', null],
  ['/old/x', '', null],
  ['/with', 'a=b', ['/new?b=1&a=b#part', 302]],
  ['/plain', 'a=b', ['/new#part', 302]],
  ['/blog', '', ['https://blog.test/x/', 308]],
  ['/blog/', '', ['https://blog.test/x/', 308]],
  ['/blog/a b/é', 'q', ['https://blog.test/x/a%20b/%C3%A9?q', 308]],
  ['/blogs', '', null],
  ['/blog/2026/x', 'z', ['/archive/x?y=2026&z', 301]],
  ['/blog/exact', '', ['/e', 301]],
  ['/blog/exact/x', '', ['https://blog.test/x/exact/x', 308]],
  // An earlier rule matches.
  ['/blog/late', '', ['https://blog.test/x/late', 308]],
  // No path becomes another host.
  ['/up/evil.test', '', ['/evil.test', 301]],
  ['/up/a?b#c%', '', ['/a%3Fb%23c%25', 301]],
  ['/r//evil.test', '', ['/evil.test', 301]],
  ['/r@evil.test', '', ['/@evil.test', 301]],
  ['/p/12', 'x', ['/posts/12?x', 307]],
  ['/p/12-abc', '', ['/posts/12', 307]],
  ['/p/12-', '', null],
  ['/p/7', '', ['/posts/7', 307]],
  ['/p/7/x', '', ['/seven/x', 301]],
  ['/q/a b/c/d', '', ['https://q.test/d?from=a%20b/c', 301]],
  ['/x/éüß', '', ['/%C3%A9%C3%BC%C3%9F', 301]],
  ['/x/éü', '', null],
  [`/r${'x'.repeat(1_030)}`, '', null],
  ['/', '', null],
];

/** A rule for everything. */
export const REDIRECT_ALL: PathRedirect[] = [rule('prefix', '/', 'https://new.test')];
export const REDIRECT_ALL_CASES: [string, string, [string, number] | null][] = [
  ['/', '', ['https://new.test/', 301]],
  ['/a/b', '', ['https://new.test/a/b', 301]],
  ['/a/', 'x', ['https://new.test/a/?x', 301]],
  ['/@evil.test', '', ['https://new.test/@evil.test', 301]],
];

/** Expressions that take exponential time in engines that try one way after the other, with a path for it. */
export const SLOW_PATTERNS: [string, string][] = [
  [`^/${'a?'.repeat(60)}${'a'.repeat(60)}$`, `/${'a'.repeat(60)}`],
  [`^/${'(a|a)?'.repeat(9)}.*.*.*.*.*x$`, `/${'a'.repeat(1_000)}`],
];
