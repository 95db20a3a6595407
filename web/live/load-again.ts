import type { Query, QueryClient } from '@tanstack/react-query';

/**
 * Loads again what a change concerns, as far as it is shown. What is just being loaded for the first time may have been read before
 * the change: it is loaded again once it is there.
 */
export function loadAgain(queries: QueryClient, concerned: (query: Query) => boolean): void {
  const underWay = queries
    .getQueryCache()
    .findAll({ predicate: concerned, fetchStatus: 'fetching' })
    .filter(({ state }) => state.data === undefined);
  void queries.invalidateQueries({ predicate: concerned });
  for (const { promise, queryKey } of underWay) {
    promise?.then(
      () => queries.invalidateQueries({ queryKey, exact: true }),
      () => {},
    );
  }
}
