import { useState } from 'react';
import { SearchField } from './filter.tsx';
import { useListParameters } from './list-parameters.ts';
import { Empty } from './page.tsx';

/** From this many rows on, there is a search field. */
const SEARCHED_FROM = 8;

/**
 * Searches rows that are all loaded by their texts. Returns those found, the search field, which keeps its text in the address, and a
 * sentence if none is found. Short lists have no field.
 */
export function useRowSearch<Row>(
  rows: readonly Row[],
  noun: string,
  textsOf: (row: Row) => readonly string[],
) {
  const { search, setSearch } = useListParameters();
  // Users who arrived with a search can change it.
  const [cameBySearch] = useState(search !== '');
  const sought = search.trim().toLowerCase();
  const found =
    sought === ''
      ? rows
      : rows.filter((row) => textsOf(row).some((text) => text.toLowerCase().includes(sought)));
  return {
    found,
    field:
      rows.length >= SEARCHED_FROM || cameBySearch || search !== '' ? (
        <SearchField
          label={`Search ${noun}`}
          name="search"
          value={search}
          onChange={(event) => setSearch(event.currentTarget.value)}
        />
      ) : null,
    nothing: found.length === 0 && search !== '' ? <Empty>{`No ${noun} match "${search}".`}</Empty> : null,
  };
}
