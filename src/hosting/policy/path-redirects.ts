import type { PathRedirect } from '../contract/website-rules.ts';

/** Where the visitor goes instead. */
export interface RedirectTarget {
  /** A path of the website, or an URL. */
  to: string;
  status: PathRedirect['status'];
}

/** The texts of a pattern's groups in a path, the whole match first; null if it does not match. */
export type MatchPattern = (pattern: string, path: string) => readonly string[] | null;

/** The longest path that patterns are compared with, in bytes of UTF-8. */
export const LONGEST_MATCHED = 1_024;

interface CompiledRedirects {
  /** By path without a final slash: the place of the first such rule. */
  exact: Map<string, number>;
  prefix: Map<string, number>;
  longestPrefix: number;
  patterns: { place: number; rule: PathRedirect }[];
}

const compiled = new WeakMap<readonly PathRedirect[], CompiledRedirects>();

/** Whether a rule needs a {@link MatchPattern}. */
export function hasPatterns(rules: readonly PathRedirect[]): boolean {
  return compiledRules(rules).patterns.length > 0;
}

/**
 * The redirect for a path, decoded and normalised; null without one. The first rule of the list that matches counts. `query`: as the
 * visitor sent it, without `?`.
 */
export function pathRedirect(
  rules: readonly PathRedirect[],
  path: string,
  query: string,
  match: MatchPattern,
): RedirectTarget | null {
  if (rules.length === 0) return null;
  const found = firstMatch(rules, path, match);
  if (found === null) return null;
  const { rule, to } = found;
  return { to: rule.keepQuery ? withQuery(to, query) : to, status: rule.status };
}

function firstMatch(
  rules: readonly PathRedirect[],
  path: string,
  match: MatchPattern,
): { rule: PathRedirect; to: string } | null {
  const { exact, prefix, longestPrefix, patterns } = compiledRules(rules);
  let place = exact.get(withoutSlash(path)) ?? Number.POSITIVE_INFINITY;
  let rest: string | null = null;
  for (const above of pathsAbove(path, longestPrefix)) {
    const of = prefix.get(above) ?? Number.POSITIVE_INFINITY;
    if (of >= place) continue;
    place = of;
    rest = above === '/' ? path : path.slice(above.length);
  }
  if (Buffer.byteLength(path) <= LONGEST_MATCHED) {
    for (const pattern of patterns) {
      if (pattern.place > place) break;
      const groups = match(pattern.rule.from, path);
      if (groups !== null) return { rule: pattern.rule, to: substituted(pattern.rule.to, groups) };
    }
  }
  const rule = rules[place];
  if (rule === undefined) return null;
  return { rule, to: rest === null ? rule.to : joined(rule.to, rest) };
}

function compiledRules(rules: readonly PathRedirect[]): CompiledRedirects {
  const known = compiled.get(rules);
  if (known !== undefined) return known;
  const made: CompiledRedirects = { exact: new Map(), prefix: new Map(), longestPrefix: 0, patterns: [] };
  for (const [place, rule] of rules.entries()) {
    if (rule.match === 'regex') {
      made.patterns.push({ place, rule });
      continue;
    }
    const from = withoutSlash(rule.from);
    const of = made[rule.match];
    if (!of.has(from)) of.set(from, place);
    if (rule.match === 'prefix') made.longestPrefix = Math.max(made.longestPrefix, from.length);
  }
  compiled.set(rules, made);
  return made;
}

/** The path itself and those above it, up to `/`. A visitor's path may have thousands of segments. */
function* pathsAbove(path: string, longest: number): Generator<string> {
  if (longest === 0) return;
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
    if (end <= longest) yield path.slice(0, end);
  }
  yield '/';
}

function withoutSlash(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, '') || '/' : path;
}

/** The target of a prefix with the rest of the path. */
function joined(to: string, rest: string): string {
  if (rest === '') return to;
  const [, before = '', after = ''] = /^([^?#]*)(.*)$/s.exec(to) ?? [];
  return `${before.replace(/\/+$/, '')}${encodedPath(rest)}${after}`;
}

/** The target of a pattern with its groups. A group never makes another host of a path. */
function substituted(to: string, groups: readonly string[]): string {
  const target = to.replaceAll(/\$(\d)/g, (_, digit: string) => encodedPath(groups[Number(digit)] ?? ''));
  return target.startsWith('//') ? target.replace(/^\/+/, '/') : target;
}

/** Encodes everything but RFC 3986's unreserved characters, sub-delims, `:`, `@` and `/`. */
export function encodedPath(path: string): string {
  return path
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment).replaceAll(/%(24|26|2B|2C|3A|3B|3D|40)/g, (text) =>
        decodeURIComponent(text),
      ),
    )
    .join('/');
}

function withQuery(target: string, query: string): string {
  if (query === '') return target;
  const [, before = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(target) ?? [];
  return `${before}${before.includes('?') ? '&' : '?'}${query}${fragment}`;
}
