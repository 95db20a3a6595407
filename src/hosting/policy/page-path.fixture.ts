/** The cases of purges of single pages, which every edge must follow. */

export const PURGED_PATHS = ['/', '/café/au-lait', '/b%2fc/', '/d'];

/** Addresses, and whether their pages are purged. */
export const PAGE_PURGE_CASES: [address: string, isPurged: boolean][] = [
  ['/', true],
  ['/?a=1', true],
  ['/caf%C3%A9/au-lait/', true],
  ['/caf%c3%a9/au-lait/?a=1&b', true],
  ['/Caf%C3%A9/au-lait/', false],
  ['/caf%C3%A9/', false],
  ['/caf%C3%A9/au-lait/more/', false],
  ['/b/c/', true],
  ['//d/', true],
  ['/d/e/', false],
];
