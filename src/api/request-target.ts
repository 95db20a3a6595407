/** Scheme and authority of the absolute form, in which proxies may ask (RFC 9112, section 3.2.2). */
const AUTHORITY = /^https?:\/\/[^/?#]*/i;

/**
 * The path and the query of a request's target, as the router sees them. `/v1//installs/` and `/v1/installs` are one
 * resource, and links name it by its proper path. Nothing is decoded.
 */
export function parseTarget(target: string): { path: string; query: string } {
  const [beforeFragment = ''] = target.replace(AUTHORITY, '').split('#', 1);
  const mark = beforeFragment.indexOf('?');
  const path = mark === -1 ? beforeFragment : beforeFragment.slice(0, mark);
  return {
    path: path.replace(/\/{2,}/g, '/').replace(/\/$/, ''),
    query: mark === -1 ? '' : beforeFragment.slice(mark + 1),
  };
}

/**
 * The target as the router can take it. A path that is no percent-encoded UTF-8 stands for itself, character by
 * character: then it leads nowhere, or is a malformed identifier, as any other such path.
 */
export function routableTarget(target: string): string {
  if (!target.includes('%')) return target;
  const { path, query } = parseTarget(target);
  try {
    decodeURIComponent(path);
    return target;
  } catch {
    return `${path.replaceAll('%', '%25')}${query === '' ? '' : `?${query}`}`;
  }
}
