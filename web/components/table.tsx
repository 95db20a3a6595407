import { type ReactNode, useMemo, useState } from 'react';
import { arranged, type Direction } from './arranged.ts';
import { Button } from './button.tsx';
import styles from './table.module.css';

export interface Column<Row> {
  id: string;
  header: string;
  cell(row: Row): ReactNode;
  /** What rows are ordered by; a column without it cannot be sorted. */
  sortBy?(row: Row): string | number;
  /** The header of its row, for those who hear the table. */
  rowHeader?: boolean;
}

/** A list of things: sortable by its headers, a page at a time, so that a thousand rows cost as much as fifty. */
export function Table<Row>({
  caption,
  columns,
  rows,
  rowKey,
  initialSort,
  pageSize = 50,
}: {
  /** What the table is of, for those who do not see what stands around it. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey(row: Row): string;
  initialSort?: { column: string; direction: Direction };
  pageSize?: number;
}) {
  const [sort, setSort] = useState(initialSort);
  const [page, setPage] = useState(0);
  const sortBy = columns.find((column) => column.id === sort?.column)?.sortBy;
  const ordered = useMemo(
    () => (sortBy ? arranged(rows, sortBy, sort?.direction ?? 'ascending') : rows),
    [rows, sortBy, sort?.direction],
  );
  const pages = Math.max(1, Math.ceil(ordered.length / pageSize));
  const shown = Math.min(page, pages - 1);

  const turn = (column: string) =>
    setSort((now) => ({
      column,
      direction: now?.column === column && now.direction === 'ascending' ? 'descending' : 'ascending',
    }));

  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <section className={styles.scroll} aria-label={caption} tabIndex={0}>
        <table className={styles.table}>
          <caption className="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <th
                  key={column.id}
                  scope="col"
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
            {ordered.slice(shown * pageSize, (shown + 1) * pageSize).map((row) => (
              <tr key={rowKey(row)}>
                {columns.map((column) =>
                  column.rowHeader ? (
                    <th key={column.id} scope="row">
                      {column.cell(row)}
                    </th>
                  ) : (
                    <td key={column.id}>{column.cell(row)}</td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {pages > 1 && (
        <nav className={styles.pages} aria-label={`Pages of ${caption}`}>
          <Button small disabled={shown === 0} onClick={() => setPage(shown - 1)}>
            Previous
          </Button>
          <span>
            Page {shown + 1} of {pages}
          </span>
          <Button small disabled={shown === pages - 1} onClick={() => setPage(shown + 1)}>
            Next
          </Button>
        </nav>
      )}
    </>
  );
}

/** Search and filters above a table. */
export function TableTools({ children }: { children: ReactNode }) {
  return <search className={styles.tools}>{children}</search>;
}
