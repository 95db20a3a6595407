import { useDeferredValue } from 'react';
import { useDomainSearch } from '../../api/overview.ts';
import { useDebounced } from '../../components/debounced.ts';
import { useEditableText, useQueryParameters } from '../../components/query-parameters.ts';

/** What a list is asked to show, kept in the address; whatever is asked anew is shown from its first page on. */
export function useListParameters() {
  const { get, set } = useQueryParameters();
  const ask = (changes: Record<string, string>) => set({ ...changes, page: '' });
  const [search, setSearch] = useEditableText(get('search'), (text) => ask({ search: text }));
  return { get, ask, search, setSearch };
}

const NONE: ReadonlyMap<string, string> = new Map();

/**
 * A search as lists follow it: the text, which may be a little behind what is typed, and of each install that has one the domain whose
 * name holds it. `withoutDomains`: the server could not be asked for those.
 */
export function useSearch(accountId: string, typed: string) {
  const text = useDeferredValue(typed);
  const asked = useDebounced(typed.trim().toLowerCase());
  const { data, isError } = useDomainSearch(accountId, asked);
  return { text, byDomain: asked === '' ? NONE : (data ?? NONE), domainSearchFailed: isError };
}
