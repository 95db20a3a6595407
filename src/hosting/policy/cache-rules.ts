import type { CacheRules } from '../contract/website-rules.ts';

/** Whether pages at a path are never cached. `path`: decoded, without a final slash; empty for the home page. */
export function isUncached({ uncachedPaths }: Pick<CacheRules, 'uncachedPaths'>, path: string): boolean {
  return uncachedPaths.some((rule) => {
    const of = rule.path.replace(/\/+$/, '');
    return path === of || (rule.match === 'prefix' && path.startsWith(`${of}/`));
  });
}

/** Whether a `Cookie` header has a cookie that bypasses the cache, as PHP names it. */
export function hasBypassCookie(
  { bypassCookies }: Pick<CacheRules, 'bypassCookies'>,
  header: string | undefined,
): boolean {
  if (header === undefined) return false;
  const names = header
    .split(';')
    .map((part) => part.replace(/^\s+/, '').replace(/=.*$/s, '').replaceAll(/[ .[]/g, '_'));
  return bypassCookies.some((rule) =>
    rule.endsWith('*') ? names.some((name) => name.startsWith(rule.slice(0, -1))) : names.includes(rule),
  );
}
