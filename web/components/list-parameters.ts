import { useDebounced } from './debounced.ts';
import { useEditableText, useQueryParameters } from './query-parameters.ts';

/** Search and filters of a list in the query string. A change returns to the first page. */
export function useListParameters() {
  const { get, set } = useQueryParameters();
  const ask = (changes: Record<string, string>) => set({ ...changes, page: '' });
  const [search, setSearch] = useEditableText(get('search'), (text) => ask({ search: text }));
  return { get, ask, search, setSearch };
}

/** Returns a typed text for the server, once it has not changed for a moment. */
export const useSettled = (typed: string): string => useDebounced(typed.trim().toLowerCase());
