import { idParameter, type QueryParameter, timeParameter, wordParameter } from '../../../api/query.ts';
import { queryRoute, type Route } from '../../../api/route.ts';
import { INVALID_PARAMETERS, invalidValue } from '../../../lib/failures.ts';
import { EVENT_TYPES } from './event-types.ts';
import { eventPageSchema } from './schema.ts';
import type { EventService } from './service.ts';

const MOST = 100;

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
        digitsParameter('limit', /^[1-9]\d{0,14}$/, 20, {
          type: 'integer',
          minimum: 1,
          default: MOST,
          description: `events in a page; over ${MOST} counts as ${MOST}`,
        }),
        digitsParameter('cursor', /^\d{1,15}$/, '1042', {
          type: 'string',
          description: '`next_cursor` of the page before',
        }),
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

/** A number of decimal digits that both databases can hold. */
function digitsParameter<Name extends string>(
  name: Name,
  pattern: RegExp,
  example: string | number,
  schema: object,
): QueryParameter<Name> {
  return {
    name,
    schema,
    example,
    read(text) {
      if (!pattern.test(text)) throw invalidValue('Query', name, 'invalid_format', INVALID_PARAMETERS);
      return text;
    },
  };
}
