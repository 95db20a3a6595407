import { useState } from 'react';
import { displayName } from '../../../components/display-name.ts';
import { SearchField } from '../../../components/filter.tsx';
import { Empty } from '../../../components/page.tsx';
import { useEditableText, useQueryParameters } from '../../../components/query-parameters.ts';
import { TableTools } from '../../../components/table.tsx';

/** From this many items on, there is a search field. */
const SEARCHED_FROM = 8;

/**
 * Searches items by their domain names. Returns those found, and the search field, which keeps its text in the address.
 * Short lists have none.
 */
export function useDomainFilter<Item>(items: readonly Item[], namesOf: (item: Item) => readonly string[]) {
  const { get, set } = useQueryParameters();
  const [search, setSearch] = useEditableText(get('search'), (search) => set({ search, page: '' }));
  // Users who arrived with a search can change it.
  const [cameBySearch] = useState(search !== '');
  const sought = search.trim().toLowerCase();
  const found = items.filter((item) => namesOf(item).some((name) => displayName(name).includes(sought)));
  const field = (
    <>
      {(items.length >= SEARCHED_FROM || cameBySearch) && (
        <TableTools>
          <SearchField
            label="Search domains"
            name="search"
            value={search}
            onChange={(event) => setSearch(event.currentTarget.value)}
          />
        </TableTools>
      )}
      {found.length === 0 && <Empty>No domains match "{search}".</Empty>}
    </>
  );
  return { found, field };
}
