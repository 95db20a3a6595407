import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import { component, nullableString, type Static, Type, timestamp, uuid } from '../../../api/schema.ts';
import { EVENT_TYPES } from './event-types.ts';

/** The version of events: raised if the meaning of a field changes. New fields and types do not raise it. */
export const EVENT_VERSION = 1;

/** The facts of an event by name. */
export const eventFactsSchema = Type.Unsafe<Record<string, string | number | null>>({
  type: 'object',
  additionalProperties: { type: ['string', 'number', 'null'] },
  description: 'ids and a few facts of the time of the change; read the resource for its present state',
});

export const eventTypeSchema = component(
  'EventType',
  Type.Unsafe<string>({ type: 'string', enum: [...EVENT_TYPES] }),
  'install.active',
);

export const eventSchema = component(
  'Event',
  Type.Object(
    {
      id: uuid('the same in every delivery; webhooks send it as `webhook-id`'),
      type: eventTypeSchema,
      version: Type.Integer({ description: `${EVENT_VERSION}; raised if the meaning of a field changes` }),
      timestamp: timestamp('of the change; ISO 8601, UTC'),
      account_id: uuid(),
      install_id: nullableString('the install that changed or that the changed thing belongs to'),
      data: eventFactsSchema,
    },
    { description: 'A change to an account. Webhooks deliver the same object.' },
  ),
  {
    id: EXAMPLE_ID.event,
    type: 'install.active',
    version: EVENT_VERSION,
    timestamp: '2026-03-01T09:30:00.000Z',
    account_id: EXAMPLE_ID.account,
    install_id: EXAMPLE_ID.install,
    data: {
      install_id: EXAMPLE_ID.install,
      name: 'shop',
      environment: 'production',
      site_id: EXAMPLE_ID.site,
      status: 'active',
    },
  },
);

export const eventPageSchema = component(
  'EventPage',
  Type.Object({
    results: Type.Array(eventSchema),
    next_cursor: Type.String({
      description: 'give it as `cursor` to get what follows; also on the last page, for the next poll',
    }),
    has_more: Type.Boolean({ description: 'whether more events follow already' }),
  }),
  {
    results: [
      {
        id: EXAMPLE_ID.event,
        type: 'account_user.added',
        version: EVENT_VERSION,
        timestamp: '2026-03-01T09:31:00.000Z',
        account_id: EXAMPLE_ID.account,
        install_id: null,
        data: { user_id: EXAMPLE_ID.user, role: 'partial' },
      },
    ],
    next_cursor: '1042',
    has_more: false,
  },
);

export type EventView = Static<typeof eventSchema>;
export type EventPage = Static<typeof eventPageSchema>;
