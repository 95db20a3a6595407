import {
  idParameter,
  type QueryParameter,
  refusedQuery,
  timeParameter,
  wordParameter,
} from '../../../api/query.ts';
import { queryRoute, type Route } from '../../../api/route.ts';
import { EVENT_TYPES } from './event-types.ts';
import { eventPageSchema } from './schema.ts';
import type { EventService } from './service.ts';

const MOST = 100;

/** Both databases can hold 15 digits. */
const LIMIT: QueryParameter<'limit'> = {
  name: 'limit',
  schema: {
    type: 'integer',
    minimum: 1,
    default: MOST,
    description: `events in a page; over ${MOST} counts as ${MOST}`,
  },
  example: 20,
  read(text) {
    if (/^[1-9]\d{0,14}$/.test(text)) return text;
    throw refusedQuery('limit', 'limit must be a whole number, 1 or greater');
  },
};

const CURSOR: QueryParameter<'cursor'> = {
  name: 'cursor',
  schema: { type: 'string', description: '`next_cursor` of the page before' },
  example: '1042',
  read(text) {
    if (/^\d{1,15}$/.test(text)) return text;
    throw refusedQuery('cursor', 'cursor must be next_cursor of an earlier answer');
  },
};

export function eventRoutes(events: EventService): Route[] {
  return [
    queryRoute({
      path: '/events',
      operationId: 'listEvents',
      summary: 'Changes to your accounts, oldest first; kept for 30 days',
      description:
        'Lists what changed in your accounts, oldest first. Keep `next_cursor` and poll with it: every event comes exactly once. Partial users and credentials limited to installs see the events of their installs.',
      tag: 'Events',
      errors: [400, 401, 429, 503],
      parameters: [
        LIMIT,
        CURSOR,
        idParameter('account_id'),
        idParameter('install_id'),
        wordParameter('type', EVENT_TYPES, 'only events of this type'),
        timeParameter('since', 'changes at or after this time'),
      ],
      response: eventPageSchema,
      handle({ caller, query: { limit = String(MOST), cursor = '0', ...filter } }) {
        const page = { after: Number(cursor), limit: Math.min(MOST, Number(limit)) };
        return events.list(caller, filter, page);
      },
    }),
  ];
}
