import { type ReactNode, useEffect, useRef } from 'react';
import { Button } from './button.tsx';
import styles from './table-selection.module.css';

/** The selected rows of a table, by their keys. Every selected row is in the table, perhaps on another page. */
export interface TableSelection<Row> {
  selected: ReadonlySet<string>;
  onSelect(keys: ReadonlySet<string>): void;
  /** Name of a row, for screen readers. */
  nameOf(row: Row): string;
  /** Whether a row can be selected; all can if left out. */
  isOffered?(row: Row): boolean;
}

type Selection = Pick<TableSelection<never>, 'selected' | 'onSelect'>;

/** The checkbox in the header of a table. It selects the rows of the shown page. */
export function SelectShown({ selection, keys }: { selection: Selection; keys: readonly string[] }) {
  const box = useRef<HTMLInputElement>(null);
  const { selected, onSelect } = selection;
  const count = keys.filter((key) => selected.has(key)).length;
  const isAll = count > 0 && count === keys.length;
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = count > 0 && !isAll;
  }, [count, isAll]);
  return (
    <th scope="col" className={styles.cell}>
      <input
        ref={box}
        type="checkbox"
        aria-label="Select all on this page"
        checked={isAll}
        onChange={() => {
          const others = [...selected].filter((key) => !keys.includes(key));
          onSelect(new Set(isAll ? others : [...others, ...keys]));
        }}
      />
    </th>
  );
}

/** The checkbox of a row. */
export function SelectRow({
  selection: { selected, onSelect },
  rowKey,
  name,
  isOffered,
}: {
  selection: Selection;
  rowKey: string;
  name: string;
  isOffered: boolean;
}) {
  if (!isOffered) return <td className={styles.cell} />;
  return (
    <td className={styles.cell}>
      <input
        type="checkbox"
        aria-label={`Select ${name}`}
        checked={selected.has(rowKey)}
        onChange={({ currentTarget: { checked } }) =>
          onSelect(new Set(checked ? [...selected, rowKey] : [...selected].filter((key) => key !== rowKey)))
        }
      />
    </td>
  );
}

/** Stays in sight below a table with selected rows: their number, and what can be done with them. */
export function SelectionBar({
  count,
  noun,
  matching,
  pending = false,
  onSelectAll,
  onClear,
  children,
}: {
  count: number;
  noun: string;
  /** Number of rows in the table, on all its pages. */
  matching: number;
  /** Whether all that match are being loaded. */
  pending?: boolean;
  onSelectAll(): void;
  onClear(): void;
  children: ReactNode;
}) {
  if (count === 0) return null;
  return (
    <section className={styles.bar} aria-label={`Selected ${noun}s`}>
      <span aria-live="polite">{count === 1 ? `1 ${noun}` : `${count} ${noun}s`} selected</span>
      {count < matching && (
        <Button small variant="quiet" pending={pending} onClick={onSelectAll}>
          Select all {matching} that match
        </Button>
      )}
      <Button small variant="quiet" onClick={onClear}>
        Clear
      </Button>
      <span className={styles.actions}>{children}</span>
    </section>
  );
}
