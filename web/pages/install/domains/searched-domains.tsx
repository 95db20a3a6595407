import { type ReactNode, useState } from 'react';
import { Button } from '../../../components/button.tsx';
import { displayName } from '../../../components/display-name.ts';
import { SearchField } from '../../../components/filter.tsx';
import { Empty } from '../../../components/page.tsx';
import { useEditableText, useQueryParameters } from '../../../components/query-parameters.ts';
import { TableTools } from '../../../components/table.tsx';
import styles from './domains.module.css';

/** From this many items on, there is a search field. */
const SEARCHED_FROM = 8;
/** Each card loads more, such as the last report, so the list is limited. */
const SHOWN_AT_ONCE = 20;

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

/** A list of cards with domain names. Longer lists have a search field. */
export function SearchedDomains<Item>({
  items,
  namesOf,
  empty,
  children,
}: {
  items: readonly Item[];
  namesOf(item: Item): readonly string[];
  /** Shown if there are no items. */
  empty: ReactNode;
  children: (item: Item) => ReactNode;
}) {
  const { found, field } = useDomainFilter(items, namesOf);
  const [most, setMost] = useState(SHOWN_AT_ONCE);
  if (items.length === 0) return empty;
  return (
    <>
      {field}
      <ul className={styles.list}>{found.slice(0, most).map(children)}</ul>
      {found.length > most && (
        <Button onClick={() => setMost(most + SHOWN_AT_ONCE)}>
          Show more ({found.length - most} hidden)
        </Button>
      )}
    </>
  );
}
