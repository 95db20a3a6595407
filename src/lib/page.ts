/** Which part of a list is asked for. */
export interface PageRequest {
  /** 0 to 100. */
  limit: number;
  /** Items to skip. */
  offset: number;
}

/** What a service answers with: the items of the page, and how many there are over all pages. */
export interface PageOf<Item> {
  count: number;
  results: Item[];
}
