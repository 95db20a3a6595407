import type { QueryClient } from '@tanstack/react-query';
import { SESSION_KEY } from '../api/query-keys.ts';

/** A session loaded so recently is reloaded later, because the page loads its first data at this time. */
export const SESSION_FRESH_MS = 10_000;

/**
 * Reloads everything when the first stream of changes opens, because changes before that are missed. The session of a page that has just
 * opened follows when it is {@link SESSION_FRESH_MS} old, unless the returned function is called before.
 */
export function reloadAfterOpening(queries: QueryClient): () => void {
  const loadedAt = queries.getQueryState(SESSION_KEY)?.dataUpdatedAt ?? 0;
  const freshMs = loadedAt + SESSION_FRESH_MS - Date.now();
  void queries.invalidateQueries({
    predicate: ({ queryKey }) => freshMs <= 0 || queryKey[0] !== SESSION_KEY[0],
  });
  if (freshMs <= 0) return () => {};
  const timer = setTimeout(() => void queries.invalidateQueries({ queryKey: SESSION_KEY }), freshMs);
  return () => clearTimeout(timer);
}
