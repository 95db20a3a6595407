/** The requested part of a list (docs/api.md, Paging). */
export interface PageRequest {
  /** 0 to 100. */
  limit: number;
  /** Items to skip. */
  offset: number;
}

/** One page of a list. `count`: items on all pages together. */
export interface PageOf<Item> {
  count: number;
  results: Item[];
  /** Whether items follow, for lists that are not counted to the end. */
  hasNext?: boolean;
}

/** For the descriptions of lists that are not counted to the end (database/bounded-page.ts). */
export const COUNTED_BOUNDEDLY = '`count` is 10,000 at most; `next` leads to all items.';

/** The order of a list. Items with the same value are in the order of their creation. */
export interface Sort<Key extends string = string> {
  /** Null: the order of creation. */
  key: Key | null;
  isDescending: boolean;
}

/** A place between two items of a sorted list. It stays where it is if items are added or deleted. */
export interface Position {
  /** Value of the sort key of the item at the place; empty in the order of creation. */
  value: string;
  /** `seq` of that item. */
  seq: number;
  /** Whether the page ends before the item; otherwise it begins after it. */
  isBefore: boolean;
}

/** The requested part of a list that has orders and cursors. */
export interface SortedRequest<Key extends string = string> extends PageRequest {
  sort: Sort<Key>;
  /** Null: the page is given by `offset`. Without a position, it is the first page. */
  cursor: { position: Position | null } | null;
}

/** The default order of a list, read by offset. */
export const OLDEST_FIRST = { sort: { key: null, isDescending: false }, cursor: null } as const;

/** A page with the places around it. */
export interface PlacedPage<Item> extends PageOf<Item> {
  /** Null if nothing comes before the page. */
  previous: Position | null;
  /** Null if nothing comes after the page. */
  next: Position | null;
}
