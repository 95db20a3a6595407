import { type RawBuilder, sql } from 'kysely';
import type { PlacedPage, Position, SortedRequest } from '../lib/page.ts';

/** How to read a page of a sorted list from an index. */
export interface Slice {
  /** Read in this direction. */
  direction: 'asc' | 'desc';
  limit: number | RawBuilder<number>;
  offset: number | RawBuilder<number>;
  /** Whether the rows come in the reverse order of the list. */
  isReversed: boolean;
}

/**
 * The slice of a request. A page by cursor has one item more, which shows whether another page follows. `total`: SQL for the number of
 * items, if it is stored. An offset in the second half is then counted from the end.
 */
export function sliceOf(
  { limit, offset, sort, cursor }: SortedRequest,
  total: { sql: RawBuilder<number>; estimate: number } | null,
): Slice {
  const directionIf = (isReversed: boolean) => (sort.isDescending === isReversed ? 'asc' : 'desc');
  if (cursor !== null) {
    const isReversed = cursor.position?.isBefore ?? false;
    return { direction: directionIf(isReversed), limit: limit + 1, offset: 0, isReversed };
  }
  if (total === null || offset < total.estimate / 2) {
    return { direction: directionIf(false), limit, offset, isReversed: false };
  }
  // The number is a part of the same query, so items that are added meanwhile do not shift the page.
  const after = sql<number>`(${total.sql} - cast(${Math.min(offset, 1e15) + limit} as bigint))`;
  const most = sql<number>`cast(${limit} as bigint)`;
  return {
    direction: directionIf(true),
    limit: sql<number>`case when ${after} < -${most} then 0 when ${after} < 0 then ${after} + ${most} else ${most} end`,
    offset: sql<number>`case when ${after} < 0 then 0 else ${after} end`,
    isReversed: true,
  };
}

/** A condition for the items beyond a position, in the direction of the slice. */
export function beyond(
  column: string | null,
  seq: string | RawBuilder<number>,
  { value, seq: at }: Position,
  { direction }: Slice,
): RawBuilder<boolean> {
  const is = direction === 'asc' ? sql`>` : sql`<`;
  const number = typeof seq === 'string' ? sql.ref(seq) : seq;
  return column === null
    ? sql<boolean>`${number} ${is} ${at}`
    : sql<boolean>`(${sql.ref(column)}, ${number}) ${is} (${value}, ${at})`;
}

/** Makes the page from its rows in the order of the slice. `sortValue`: of the sort key. */
export function placedPage<Row extends { seq: number }>(
  rows: readonly Row[],
  count: number,
  { limit, offset, cursor }: SortedRequest,
  { isReversed }: Slice,
  sortValue: (row: Row) => string,
): PlacedPage<Row> {
  const kept = rows.slice(0, limit);
  const results = isReversed ? kept.toReversed() : kept;
  const first = results[0];
  const last = results.at(-1);
  const place = (row: Row | undefined, isBefore: boolean): Position | null =>
    row === undefined ? null : { value: sortValue(row), seq: row.seq, isBefore };
  const hasMore = rows.length > limit;
  const position = cursor?.position ?? null;
  // A page that was reached from a position has the items on its other side before or after it.
  const hasPrevious = cursor === null ? offset > 0 : position !== null && (!position.isBefore || hasMore);
  const hasNext = cursor === null ? offset + limit < count : position?.isBefore === true || hasMore;
  const turned = position === null ? null : { ...position, isBefore: !position.isBefore };
  return {
    count,
    results,
    previous: hasPrevious ? (place(first, true) ?? (turned?.isBefore ? turned : null)) : null,
    next: hasNext ? (place(last, false) ?? (turned && !turned.isBefore ? turned : null)) : null,
  };
}
