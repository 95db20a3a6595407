import { useDeferredValue } from 'react';
import { useDomainSearch } from '../../api/overview.ts';
import { useDebounced } from '../../components/debounced.ts';
import { useEditableText, useQueryParameters } from '../../components/query-parameters.ts';

/** Filters of a list in the query string. A change returns to the first page. */
export function useListParameters() {
  const { get, set } = useQueryParameters();
  const ask = (changes: Record<string, string>) => set({ ...changes, page: '' });
  const [search, setSearch] = useEditableText(get('search'), (text) => ask({ search: text }));
  return { get, ask, search, setSearch };
}

const NONE: ReadonlyMap<string, string> = new Map();

/**
 * Searches a list: by text, which lags a little behind typing, and by the domains that match on the server.
 * `domainSearchFailed` tells that the server's part failed.
 */
export function useSearch(accountId: string, typed: string) {
  const text = useDeferredValue(typed);
  const asked = useDebounced(typed.trim().toLowerCase());
  const { data, isError } = useDomainSearch(accountId, asked);
  return { text, byDomain: asked === '' ? NONE : (data ?? NONE), domainSearchFailed: isError };
}
