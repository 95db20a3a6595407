import { QueryClient } from '@tanstack/react-query';
import type { Middleware } from 'openapi-fetch';
import { hosting, portal } from './client.ts';
import { ApiFailure } from './failure.ts';

/** Query key of the session: who is signed in. */
export const SESSION_KEY = ['session'] as const;

/** A 401 of these is about what was typed. */
const SIGNING_IN = /^\/portal\/api\/session(\/|$)/;

/** Live changes tell what moves; what is moving is asked for besides so often, for those that were lost on the way. */
export const WHILE_MOVING_MS = 3_000;

/**
 * What was loaded is kept under keys whose first part is a topic of the live changes (`live/live.ts`) and whose second is the
 * id of the account, the install or the thing itself: `['domain', installId]`, `['site', accountId]`, `['site', siteId]`.
 */
export function createQueries(): QueryClient {
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 10_000,
        retry: (failures, error) => failures < 2 && !(error instanceof ApiFailure && error.status < 500),
      },
    },
  });
  const askForSession: Middleware = {
    onResponse({ response, schemaPath }) {
      // The session has ended, whatever was asked or sent: whoever shows it asks again, and shows the sign-in.
      if (response.status === 401 && !SIGNING_IN.test(schemaPath)) {
        void queries.invalidateQueries({ queryKey: SESSION_KEY });
      }
    },
  };
  hosting.use(askForSession);
  portal.use(askForSession);
  return queries;
}
