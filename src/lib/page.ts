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
}
