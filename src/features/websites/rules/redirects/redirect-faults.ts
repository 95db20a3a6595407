import {
  MOST_PATTERNS,
  MOST_REDIRECTS,
  type PathRedirect,
} from '../../../../hosting/contract/website-rules.ts';
import { PatternFault, parsePattern } from '../../../../hosting/policy/path-pattern.ts';
import { type MatchPattern, pathRedirect } from '../../../../hosting/policy/path-redirects.ts';
import { REDIRECT_TARGET } from '../../../../hosting/policy/redirect-target.ts';
import type { Fault } from '../../../../lib/failures.ts';
import { faultOfRulePath } from '../rule-paths.ts';

type Rule = Pick<PathRedirect, 'match' | 'from' | 'to'>;

/** Expressions that were stored before this limit still work. */
const MOST_REPEATS_IN_ALL = 200;
/** Redirects of one website that follow each other; browsers give up later. */
const MOST_HOPS = 5;
/** Longer paths are not followed: few websites have such, and patterns take longer. */
const LONGEST_FOLLOWED = 256;
/** Bytes of paths that patterns are compared with in one check, which holds up other requests. A match counts more. */
const MOST_COMPARED = 500_000;
const BYTES_OF_MATCH = 50;

const TARGET = new RegExp(REDIRECT_TARGET);
/** The authority of a target is written out, so that no path chooses another host. */
const AUTHORITY = /^https?:\/\/[A-Za-z0-9.-]+(?::\d{1,5})?(?=[/?#]|$)/;

function fault(field: string, code: string, message: string): Fault {
  return { resource: 'Redirect', field, type: 'invalid_value', code, message };
}

/** The faults of a redirect on its own. `at`: the beginning of its fields' names. `isStored`: its source was accepted before. */
export function faultsOfRedirect(
  { match, from, to }: Rule,
  { at = '', isStored = false }: { at?: string; isStored?: boolean } = {},
): Fault[] {
  return [
    ...(isStored ? [] : faultsOfSource(match, from, `${at}from`)),
    ...faultsOfTarget(match, from, to, `${at}to`),
  ];
}

function faultsOfSource(match: Rule['match'], from: string, field: string): Fault[] {
  if (match !== 'regex') {
    const found = faultOfRulePath(from);
    return found === undefined ? [] : [fault(field, found.code, found.message)];
  }
  try {
    if (parsePattern(from).repeats > MOST_REPEATS_IN_ALL) {
      throw new PatternFault(`its repetitions add up to more than ${MOST_REPEATS_IN_ALL}; use * or +`);
    }
    return [];
  } catch (error) {
    if (!(error instanceof PatternFault)) throw error;
    return [fault(field, 'invalid_pattern', `The regular expression cannot be used: ${error.message}`)];
  }
}

function faultsOfTarget(match: Rule['match'], from: string, to: string, field: string): Fault[] {
  if (!TARGET.test(to) || (!to.startsWith('/') && !AUTHORITY.test(to))) {
    const message = 'Give a path such as /new-page/ or a URL such as https://example.com/, percent-encoded';
    return [fault(field, 'invalid_format', message)];
  }
  const groups = match === 'regex' ? groupsIn(from) : null;
  const missing = groups === null ? undefined : /\$([1-9])/g[Symbol.matchAll](to);
  for (const [, digit] of missing ?? []) {
    if (groups !== null && Number(digit) > groups) {
      return [
        fault(field, 'unknown_group', `The regular expression has no group $${digit}; it has ${groups}`),
      ];
    }
  }
  return [];
}

/** Null for an invalid expression, which is a separate fault. */
function groupsIn(pattern: string): number | null {
  try {
    return parsePattern(pattern).groups;
  } catch {
    return null;
  }
}

/** The fault of having too many redirects. */
export function faultsOfNumber(rules: readonly Rule[]): Fault[] {
  if (rules.length > MOST_REDIRECTS) {
    return [
      fault(
        'redirects',
        'too_many',
        `An install can have ${MOST_REDIRECTS} redirects, and these are ${rules.length}`,
      ),
    ];
  }
  const patterns = rules.filter(({ match }) => match === 'regex').length;
  if (patterns <= MOST_PATTERNS) return [];
  const message = `An install can have ${MOST_PATTERNS} redirects with a regular expression, and these are ${patterns}`;
  return [fault('match', 'too_many', message)];
}

/**
 * The positions of redirects that lead visitors nowhere: to themselves, into a circle, or through more than {@link MOST_HOPS} others.
 * After too many comparisons with patterns, the rest is not checked. The edge ignores a redirect to the requested address. `names`: the
 * host names of the website.
 */
export function endlessRedirects(
  rules: readonly PathRedirect[],
  names: ReadonlySet<string>,
  match: MatchPattern,
): number[] {
  const isOwn = ({ host, hostname }: URL) => host === ANY_NAME || names.has(hostname);
  const nextOf = limitedRedirects(rules, match);
  return rules.flatMap((rule, place) =>
    isItself(rule) || visitsOf(rule).some((to) => isEndless(to)) ? [place] : [],
  );

  function isEndless(first: string): boolean {
    const seen = new Set<string>();
    for (let url = URL.parse(first, `http://${ANY_NAME}`); url !== null && isOwn(url); ) {
      const address = addressOf(url);
      if (seen.has(address) || seen.size >= MOST_HOPS) return true;
      seen.add(address);
      const path = pathOf(url);
      const next = path === null ? null : nextOf(path);
      const to = next === null ? null : URL.parse(next, url.href);
      if (to === null || addressOf(to) === address) return false;
      url = to;
    }
    return false;
  }
}

/** Finds where a path is redirected to, once for each path. */
function limitedRedirects(
  rules: readonly PathRedirect[],
  match: MatchPattern,
): (path: string) => string | null {
  const known = new Map<string, string | null>();
  let left = MOST_COMPARED;
  const limited: MatchPattern = (pattern, path) => {
    if (left <= 0) return null;
    const groups = match(pattern, path);
    left -= path.length * (groups === null ? 1 : BYTES_OF_MATCH);
    return groups;
  };
  return (path) => {
    if (path.length > LONGEST_FOLLOWED) return null;
    const before = known.get(path);
    if (before !== undefined) return before;
    const to = pathRedirect(rules, path, '', limited)?.to ?? null;
    known.set(path, to);
    return to;
  };
}

/** Stands for each name of the website. */
const ANY_NAME = 'any.invalid';

const addressOf = ({ host, pathname }: URL): string => `${host}${pathname}`;

function isItself({ match, from, to }: PathRedirect): boolean {
  const url = URL.parse(to, `http://${ANY_NAME}`);
  return match === 'exact' && url?.host === ANY_NAME && pathOf(url) === from;
}

/** Where visitors go whom a redirect catches. */
function visitsOf(rule: PathRedirect): string[] {
  const { match, from, to } = rule;
  if (match === 'regex') return [to.replaceAll(/\$\d/g, 'x')];
  if (match === 'exact') return [to];
  // The path itself, and one below it.
  const below = pathRedirect([rule], `${from.replace(/\/+$/, '')}/x`, '', () => null);
  return below === null ? [to] : [to, below.to];
}

/** The path of a URL as edges compare it: decoded. */
function pathOf({ pathname }: URL): string | null {
  try {
    return decodeURIComponent(pathname).replaceAll(/\/{2,}/g, '/');
  } catch {
    return null;
  }
}
