import type { Query, QueryClient } from '@tanstack/react-query';

/**
 * Reloads the visible queries that a change concerns. The server may have answered a first load before the change, so
 * such a load is repeated when it finishes.
 */
export function loadAgain(queries: QueryClient, concerned: (query: Query) => boolean): void {
  const firstLoads = queries
    .getQueryCache()
    .findAll({ predicate: concerned, fetchStatus: 'fetching' })
    .filter(({ state }) => state.data === undefined);
  void queries.invalidateQueries({ predicate: concerned });
  for (const { promise, queryKey } of firstLoads) {
    promise?.then(
      () => queries.invalidateQueries({ queryKey, exact: true }),
      () => {},
    );
  }
}
