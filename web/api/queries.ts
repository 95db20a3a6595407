import { QueryCache, QueryClient } from '@tanstack/react-query';
import { ApiFailure } from './failure.ts';

/** Live changes tell what moves; what is moving is asked for besides so often, for those that were lost on the way. */
export const WHILE_MOVING_MS = 3_000;

/**
 * What was loaded is kept under keys whose first part is a topic of the live changes (`live/live.ts`) and whose second is the
 * id of the account, the install or the thing itself: `['domain', installId]`, `['site', accountId]`, `['site', siteId]`.
 */
export function createQueries(): QueryClient {
  const queries = new QueryClient({
    queryCache: new QueryCache({
      onError(error) {
        // The session has ended: whoever shows it asks again, and shows the sign-in.
        if (error instanceof ApiFailure && error.status === 401)
          queries.invalidateQueries({ queryKey: ['session'] });
      },
    }),
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (failures, error) => failures < 2 && !(error instanceof ApiFailure && error.status < 500),
      },
    },
  });
  return queries;
}
