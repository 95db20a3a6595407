import { followedRoute } from '../../../api/followed-route.ts';
import {
  type QueryParameter,
  type QueryValues,
  refusedQuery,
  textParameter,
  timeParameter,
} from '../../../api/query.ts';
import type { Route } from '../../../api/route.ts';
import { LOG_PAGE } from '../../../hosting/contract/choices.ts';
import { LOG_CURSOR, LOG_STATUS } from '../../../hosting/contract/logs.ts';
import { accessPageSchema, cronPageSchema, mailPageSchema, phpPageSchema } from './schema.ts';
import type { LogFilter, LogService } from './service.ts';

const STANDARD = 100;

const LIMIT: QueryParameter<'limit'> = {
  name: 'limit',
  schema: {
    type: 'integer',
    minimum: 1,
    default: STANDARD,
    description: `entries in an answer; over ${LOG_PAGE} counts as ${LOG_PAGE}`,
  },
  example: STANDARD,
  read(text) {
    if (/^[1-9]\d{0,14}$/.test(text)) return text;
    throw refusedQuery('limit', 'limit must be a whole number, 1 or greater');
  },
};

const CURSOR: QueryParameter<'cursor'> = {
  name: 'cursor',
  schema: { type: 'string', description: '`next_cursor` of the answer before; to follow, `follow_cursor`' },
  example: '2026-01-31.1.48213',
  read(text) {
    if (new RegExp(LOG_CURSOR).test(text)) return text;
    throw refusedQuery('cursor', 'cursor must be next_cursor or follow_cursor of an earlier answer');
  },
};

const STATUS: QueryParameter<'status'> = {
  name: 'status',
  schema: {
    type: 'string',
    pattern: LOG_STATUS,
    description: 'only answers with this status, such as `404`, or of this class, such as `5xx`',
  },
  example: '5xx',
  read(text) {
    if (new RegExp(LOG_STATUS).test(text)) return text;
    throw refusedQuery('status', 'status must be a status such as 404, or a class such as 5xx');
  },
};

const PARAMETERS = [
  timeParameter('from', 'entries at or after this time'),
  timeParameter('to', 'entries before this time'),
  textParameter('search', 'a text that a value of the entry contains, in upper or lower case'),
  CURSOR,
  LIMIT,
] as const;

type Values = QueryValues<'from' | 'to' | 'search' | 'cursor' | 'limit' | 'status'>;

const ERRORS = [400, 401, 403, 404, 409, 429, 502, 503] as const;
const COMMON =
  'Newest first. With `Accept: text/event-stream`, the answer follows the log from `cursor`, or from its end. Events are `entry` for each new entry, oldest first, and `unavailable` while the host does not answer. A user follows at most 5 logs at once, an install has at most 20 followers.';

export function logRoutes(logs: LogService): Route[] {
  const tag = 'Logs';
  return [
    followedRoute({
      path: '/installs/:install_id/logs/access',
      operationId: 'listAccessLog',
      summary: 'Get the access log of an install',
      description: `Returns the requests to the website. ${COMMON}`,
      tag,
      errors: ERRORS,
      needs: 'logs',
      parameters: [...PARAMETERS, STATUS],
      response: accessPageSchema,
      handle: ({ caller, id, query }) =>
        logs.list(caller, id('install_id'), 'access', filterIn(query), pageIn(query)),
      follow: ({ caller, id, query, cursor }, following) =>
        logs.follow(caller, id('install_id'), 'access', filterIn(query), cursor, following),
    }),
    followedRoute({
      path: '/installs/:install_id/logs/php',
      operationId: 'listPhpLog',
      summary: 'Get the PHP errors of an install',
      description: `Returns what PHP wrote to its error log. ${COMMON}`,
      tag,
      errors: ERRORS,
      needs: 'logs',
      parameters: PARAMETERS,
      response: phpPageSchema,
      handle: ({ caller, id, query }) =>
        logs.list(caller, id('install_id'), 'php', filterIn(query), pageIn(query)),
      follow: ({ caller, id, query, cursor }, following) =>
        logs.follow(caller, id('install_id'), 'php', filterIn(query), cursor, following),
    }),
    followedRoute({
      path: '/installs/:install_id/logs/cron',
      operationId: 'listCronLog',
      summary: 'Get the runs of scheduled tasks of an install',
      description: `Returns the runs of WP-Cron, which the host starts. ${COMMON}`,
      tag,
      errors: ERRORS,
      needs: 'logs',
      parameters: PARAMETERS,
      response: cronPageSchema,
      handle: ({ caller, id, query }) =>
        logs.list(caller, id('install_id'), 'cron', filterIn(query), pageIn(query)),
      follow: ({ caller, id, query, cursor }, following) =>
        logs.follow(caller, id('install_id'), 'cron', filterIn(query), cursor, following),
    }),
    followedRoute({
      path: '/installs/:install_id/logs/mail',
      operationId: 'listMailLog',
      summary: 'Get the mail log of an install',
      description: `Returns what happened to the messages that the website sent. ${COMMON}`,
      tag,
      errors: ERRORS,
      needs: 'logs',
      parameters: PARAMETERS,
      response: mailPageSchema,
      handle: ({ caller, id, query }) =>
        logs.list(caller, id('install_id'), 'mail', filterIn(query), pageIn(query)),
      follow: ({ caller, id, query, cursor }, following) =>
        logs.follow(caller, id('install_id'), 'mail', filterIn(query), cursor, following),
    }),
  ];
}

function filterIn({ from, to, search, status }: Values): LogFilter {
  return {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(search === undefined ? {} : { search }),
    ...(status === undefined ? {} : { status }),
  };
}

function pageIn({ cursor = null, limit = String(STANDARD) }: Partial<Record<keyof Values, string | null>>) {
  return { cursor, limit: Math.min(LOG_PAGE, Number(limit)) };
}
