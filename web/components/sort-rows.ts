export type Direction = 'ascending' | 'descending';

const collator = new Intl.Collator('en', { numeric: true, sensitivity: 'base' });

/**
 * Returns the rows sorted: numbers by value, texts in natural order (`site2` before `site10`). The sort is stable.
 */
export function sortRows<Row>(
  rows: readonly Row[],
  by: (row: Row) => string | number,
  direction: Direction,
): Row[] {
  const sign = direction === 'ascending' ? 1 : -1;
  const compare = (a: string | number, b: string | number) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : collator.compare(String(a), String(b));
  return [...rows].sort((a, b) => sign * compare(by(a), by(b)));
}
