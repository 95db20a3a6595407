import { LRUCache } from 'lru-cache';
import type { MatchPattern } from './path-redirects.ts';

/** Patterns that stay compiled. */
const MOST_COMPILED = 1_000;

let loaded: Promise<MatchPattern> | undefined;

/**
 * Loads RE2, whose time grows with the length of a path only, whatever the pattern. Loaded with the first pattern, because few
 * installs have one.
 */
export function loadPatternEngine(): Promise<MatchPattern> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<MatchPattern> {
  const { RE2JS } = await import('re2js');
  const compiled = new LRUCache<string, InstanceType<typeof RE2JS>>({ max: MOST_COMPILED });
  return (pattern, path) => {
    let known = compiled.get(pattern);
    if (known === undefined) {
      known = RE2JS.compile(pattern, RE2JS.DOTALL);
      compiled.set(pattern, known);
    }
    // Without groups it is a table of states; with them, it can take milliseconds.
    if (!known.test(path)) return null;
    const matcher = known.matcher(path);
    if (!matcher.find()) return null;
    return Array.from({ length: matcher.groupCount() + 1 }, (_, group) => matcher.group(group) ?? '');
  };
}
