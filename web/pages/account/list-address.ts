import { useDeferredValue } from 'react';
import { useDomainSearch } from '../../api/overview.ts';
import { useAddressState, useTyped } from '../../components/address-state.ts';
import { useRested } from '../../components/rested.ts';

/** What a list is asked to show, kept in the address; whatever is asked anew is shown from its first page on. */
export function useListAddress() {
  const { get, set } = useAddressState();
  const ask = (changes: Record<string, string>) => set({ ...changes, page: '' });
  const [search, setSearch] = useTyped(get('search'), (text) => ask({ search: text }));
  return { get, ask, search, setSearch };
}

const NONE: ReadonlyMap<string, string> = new Map();

/**
 * A search as lists follow it: the text, which may be a little behind what is typed, and of each install that has one the domain whose
 * name holds it. `withoutDomains`: the server could not be asked for those.
 */
export function useSearch(accountId: string, typed: string) {
  const text = useDeferredValue(typed);
  const asked = useRested(typed.trim().toLowerCase());
  const { data, isError } = useDomainSearch(accountId, asked);
  return { text, byDomain: asked === '' ? NONE : (data ?? NONE), withoutDomains: isError };
}
