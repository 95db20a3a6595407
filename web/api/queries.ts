import { QueryClient } from '@tanstack/react-query';
import type { Middleware } from 'openapi-fetch';
import { hosting, portal } from './client.ts';
import { ApiFailure } from './failure.ts';
import { SESSION_KEY } from './query-keys.ts';
import { areHidden, hidePages, sessionState } from './session-state.ts';

/** A 401 from these paths means wrong credentials, not an ended session. */
const SIGNING_IN = /^\/portal\/api\/session(\/|$)/;

/** Polling interval while something is in progress, in case a live change is lost. */
export const POLL_MS = 3_000;

/** Keeps the former page of a list while another page loads, unless it is of another account. */
export const keepPageOf =
  (accountId: string) =>
  <Data>(former: Data | undefined, query: { queryKey: readonly unknown[] } | undefined): Data | undefined =>
    query?.queryKey[1] === accountId ? former : undefined;

/**
 * Creates the query cache. The first part of a key is a topic of the live changes (`live/live.ts`), the second the ID
 * of the account, the install or the resource: `['domain', installId]`, `['site', accountId]`, `['site', siteId]`.
 */
export function createQueries(): QueryClient {
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (failures, error) => failures < 2 && !(error instanceof ApiFailure && error.status < 500),
      },
      // Without a connection, a mutation fails at once instead of waiting for one.
      mutations: { networkMode: 'always' },
    },
  });
  const noticeEndedSession: Middleware = {
    onRequest({ schemaPath }) {
      // Hidden pages still poll. The server would refuse that, and count it against the limit of the address.
      const isRefused = areHidden(sessionState(queries)) && !SIGNING_IN.test(schemaPath);
      return isRefused ? Response.json({ message: 'Authentication required' }, { status: 401 }) : undefined;
    },
    onResponse({ response, schemaPath }) {
      // The session has ended, or has a new token. Reloading it shows which.
      if (response.status === 401 && !SIGNING_IN.test(schemaPath)) {
        void checkSession(queries);
      }
    },
  };
  hosting.use(noticeEndedSession);
  portal.use(noticeEndedSession);
  return queries;
}

/** Loads the session after a refused request. If that fails, for example because of a rate limit, its pages are hidden. */
async function checkSession(queries: QueryClient): Promise<void> {
  await queries.invalidateQueries({ queryKey: SESSION_KEY });
  if (queries.getQueryState(SESSION_KEY)?.status === 'error') hidePages(queries);
}
