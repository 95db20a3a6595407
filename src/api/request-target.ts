/** Scheme and authority of the absolute form, which proxies may send (RFC 9112, section 3.2.2). */
const AUTHORITY = /^https?:\/\/[^/?#]*/i;

/**
 * Splits a request target into path and query, still encoded. Removes duplicate and trailing slashes like the router, so that
 * `/v1//installs/` and `/v1/installs` get the same links.
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
 * The target in a form that the router can decode. Escapes every `%` if the path is not percent-encoded UTF-8. Such a path
 * then leads to 404 or to the error for a malformed identifier.
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
