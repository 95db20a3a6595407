import EllipsisHorizontalIcon from '@heroicons/react/24/outline/EllipsisHorizontalIcon';
import { type CSSProperties, type ReactNode, useMemo, useRef } from 'react';
import { Button } from './button.tsx';
import { Menu, type MenuEntry } from './menu.tsx';
import { useQueryParameters } from './query-parameters.ts';
import { type Direction, sortRows } from './sort-rows.ts';
import styles from './table.module.css';
import { SelectRow, SelectShown, type TableSelection } from './table-selection.tsx';

export interface Column<Row> {
  id: string;
  header: string;
  cell(row: Row): ReactNode;
  /** Sort key; `server` if the server sorts the rows. A column without it cannot be sorted. */
  sortBy?: ((row: Row) => string | number) | 'server';
  /** Whether screen readers announce the cell as the header of its row. */
  rowHeader?: boolean;
  /** Left out where the other columns need the room. */
  optional?: boolean;
  /**
   * Keeps the cells in one line of this share of the table, in percent. The text is their tooltip, because a longer one
   * is cut off.
   */
  line?: { share: number; text(row: Row): string };
}

interface Sort {
  column: string;
  direction: Direction;
}

/**
 * A table that users can sort by its headers. It renders one page of rows at a time, so that long lists stay fast.
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  rowKey,
  initialSort,
  pageSize = 50,
  count,
  addressName = '',
  selection,
}: {
  /** Name of the table, for screen readers. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey(row: Row): string;
  initialSort?: Sort;
  pageSize?: number;
  /** Number of all rows, if `rows` contains only the current page ({@link usePage}). */
  count?: number;
  /** Prefix of the query parameters `sort` and `page`, for a second table on the same page. */
  addressName?: string;
  /** Adds a checkbox to each row. */
  selection?: TableSelection<Row> | undefined;
}) {
  const [sort, turn] = useSort(addressName, columns, initialSort);
  const [page, setPage] = usePage(addressName);
  const section = useRef<HTMLElement>(null);
  const sortBy = columns.find((column) => column.id === sort?.column)?.sortBy;
  const ordered = useMemo(
    () => (typeof sortBy === 'function' ? sortRows(rows, sortBy, sort?.direction ?? 'ascending') : rows),
    [rows, sortBy, sort?.direction],
  );
  const pages = Math.max(1, Math.ceil((count ?? rows.length) / pageSize));
  const shown = Math.min(page, pages - 1);
  const first = count === undefined ? shown * pageSize : 0;
  const onPage = ordered.slice(first, first + pageSize);

  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section ref={section} className={styles.scroll} aria-label={caption} tabIndex={0}>
        <table className={styles.table}>
          <caption className="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {selection && (
                <SelectShown
                  selection={selection}
                  keys={onPage.filter((row) => selection.isOffered?.(row) ?? true).map(rowKey)}
                />
              )}
              {columns.map((column) => (
                <th
                  key={column.id}
                  scope="col"
                  className={classOf(column)}
                  style={shareOf(column)}
                  aria-sort={
                    column.sortBy ? (sort?.column === column.id ? sort.direction : 'none') : undefined
                  }
                >
                  {column.sortBy ? (
                    <button type="button" className={styles.sort} onClick={() => turn(column.id)}>
                      {column.header}
                      <span aria-hidden="true">
                        {sort?.column === column.id ? (sort.direction === 'ascending' ? ' ↑' : ' ↓') : ' ↕'}
                      </span>
                    </button>
                  ) : (
                    column.header
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {onPage.map((row) => (
              <tr key={rowKey(row)}>
                {selection && (
                  <SelectRow
                    selection={selection}
                    rowKey={rowKey(row)}
                    name={selection.nameOf(row)}
                    isOffered={selection.isOffered?.(row) ?? true}
                  />
                )}
                {columns.map((column) => {
                  const cell = {
                    'data-header': column.header,
                    className: classOf(column),
                    title: column.line?.text(row),
                    children: column.cell(row),
                  };
                  return column.rowHeader ? (
                    <th key={column.id} scope="row" {...cell} />
                  ) : (
                    <td key={column.id} {...cell} />
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {pages > 1 && (
        <Pages
          of={caption}
          shown={shown}
          pages={pages}
          onTurn={(next) => {
            setPage(next);
            // Sighted users and screen readers continue at the top of the new page.
            section.current?.scrollIntoView({ block: 'start' });
            section.current?.focus({ preventScroll: true });
          }}
        />
      )}
    </>
  );
}

const classOf = <Row,>({ optional, line }: Column<Row>) =>
  [optional && styles.optional, line && styles.line].filter(Boolean).join(' ') || undefined;

/** The share of a column, which the style sheet uses where rows are no cards. */
const shareOf = <Row,>({ line }: Column<Row>): CSSProperties | undefined =>
  line && Object.fromEntries([['--share', `${line.share}%`]]);

/** Returns the zero-based page in the query string, and a function that changes it. */
export function usePage(addressName = '') {
  const address = useQueryParameters();
  const name = `${addressName}page`;
  const asked = address.get(name);
  const page = /^[1-9]\d{0,8}$/.test(asked) ? Number(asked) - 1 : 0;
  return [page, (next: number) => address.set({ [name]: next === 0 ? '' : String(next + 1) })] as const;
}

/**
 * Returns the sort order in the query string (`-name` is descending), and a function that sorts by a column or
 * reverses it and returns to the first page.
 */
function useSort<Row>(addressName: string, columns: readonly Column<Row>[], initial: Sort | undefined) {
  const address = useQueryParameters();
  const name = `${addressName}sort`;
  const asked = address.get(name);
  const column = asked.replace(/^-/, '');
  const known = columns.some(({ id, sortBy }) => id === column && sortBy !== undefined);
  const sort: Sort | undefined = known
    ? { column, direction: asked === column ? 'ascending' : 'descending' }
    : initial;
  const turn = (to: string) =>
    address.set({
      [name]: sort?.column === to && sort.direction === 'ascending' ? `-${to}` : to,
      [`${addressName}page`]: '',
    });
  return [sort, turn] as const;
}

function Pages({
  of,
  shown,
  pages,
  onTurn,
}: {
  of: string;
  shown: number;
  pages: number;
  onTurn(page: number): void;
}) {
  return (
    <nav className={styles.pages} aria-label={`Pages of ${of}`}>
      <Button small disabled={shown === 0} onClick={() => onTurn(shown - 1)}>
        Previous
      </Button>
      <span>
        Page {shown + 1} of {pages}
      </span>
      <Button small disabled={shown === pages - 1} onClick={() => onTurn(shown + 1)}>
        Next
      </Button>
    </nav>
  );
}

/** The menu at the end of a row. */
export function RowMenu({ name, entries }: { name: string; entries: readonly MenuEntry[] }) {
  return (
    <span className={styles.rowMenu}>
      <Menu small label={`Actions for ${name}`} entries={entries}>
        <EllipsisHorizontalIcon />
      </Menu>
    </span>
  );
}

/** The search field and filters above a table. */
export function TableTools({ children }: { children: ReactNode }) {
  return <search className={styles.tools}>{children}</search>;
}

/** Two fields among the tools that stay in one line, such as the ends of a range. */
export function FieldPair({ children }: { children: ReactNode }) {
  return <div className={styles.pair}>{children}</div>;
}
