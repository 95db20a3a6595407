import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import {
  component,
  nullableArrayOfStrings,
  nullableString,
  nullableTimestamp,
  type Static,
  stringEnum,
  Type,
  timestamp,
  uuid,
} from '../../../api/schema.ts';
import { EVENT_TYPES } from '../events/event-types.ts';
import { EVENT_VERSION, eventSchema } from '../events/schema.ts';

export const LONGEST_URL = 2000;
const LONGEST_DESCRIPTION = 200;
const MOST_INSTALLS = 1000;

const webhookProperties = {
  id: uuid(),
  account_id: uuid(),
  url: Type.String(),
  description: Type.String(),
  event_types: nullableArrayOfStrings('the types of events that it gets; null: all'),
  install_ids: nullableArrayOfStrings(
    'the installs whose events it gets; null: all, and events without an install',
  ),
  enabled: Type.Boolean(),
  disabled_reason: nullableString('why Homeport switched it off; null if it is on or a user switched it off'),
  previous_secret_until: nullableTimestamp('until then, the secret before the rotation signs too'),
  created_at: timestamp(),
  updated_at: timestamp(),
};

const webhookExample = {
  id: EXAMPLE_ID.webhook,
  account_id: EXAMPLE_ID.account,
  url: 'https://hooks.example.com/homeport',
  description: 'Deployments',
  event_types: ['install.active', 'install.failed'],
  install_ids: null,
  enabled: true,
  disabled_reason: null,
  previous_secret_until: null,
  created_at: '2026-03-01T09:00:00.000Z',
  updated_at: '2026-03-01T09:00:00.000Z',
};

export const webhookSchema = component(
  'Webhook',
  Type.Object(webhookProperties, { description: 'An address that gets the events of an account' }),
  webhookExample,
);

export const webhookWithSecretSchema = component(
  'WebhookWithSecret',
  Type.Object({
    ...webhookProperties,
    secret: Type.Optional(
      Type.String({ description: 'signs deliveries (Standard Webhooks); shown once, when it is made' }),
    ),
  }),
  { ...webhookExample, secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oDC2FVsBQIhrs=' },
);

const eventTypes = () =>
  Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string', enum: [...EVENT_TYPES] },
      minItems: 1,
      maxItems: EVENT_TYPES.length,
      description: 'null: all',
    }),
  );
const installIds = () =>
  Type.Optional(
    Type.Unsafe<string[] | null>({
      type: ['array', 'null'],
      items: { type: 'string', format: 'uuid' },
      minItems: 1,
      maxItems: MOST_INSTALLS,
      description: 'installs of the account; null: all, and events without an install',
    }),
  );
const url = () => Type.String({ maxLength: LONGEST_URL, description: 'https, with a public address' });
const description = () => Type.Optional(Type.String({ maxLength: LONGEST_DESCRIPTION }));

export const createWebhookSchema = component(
  'CreateWebhook',
  Type.Object({
    account_id: uuid(),
    url: url(),
    description: description(),
    event_types: eventTypes(),
    install_ids: installIds(),
  }),
  {
    account_id: EXAMPLE_ID.account,
    url: 'https://hooks.example.com/homeport',
    description: 'Deployments',
    event_types: ['install.active', 'install.failed'],
  },
);

export const updateWebhookSchema = component(
  'UpdateWebhook',
  Type.Object({
    url: Type.Optional(url()),
    description: description(),
    event_types: eventTypes(),
    install_ids: installIds(),
    enabled: Type.Optional(Type.Boolean({ description: 'false: deliveries that wait fail' })),
    rotate_secret: Type.Optional(
      Type.Boolean({ description: 'makes a new secret; the old one signs too for 24 hours' }),
    ),
  }),
  { event_types: null, rotate_secret: true },
);

export const DELIVERY_STATES = ['pending', 'succeeded', 'failed'] as const;

export const deliverySchema = component(
  'WebhookDelivery',
  Type.Object(
    {
      id: uuid(),
      event: eventSchema,
      state: stringEnum(DELIVERY_STATES),
      attempts: Type.Integer(),
      created_at: timestamp(),
      last_attempt_at: nullableTimestamp(),
      next_attempt_at: nullableTimestamp('of a delivery that failed and is retried'),
      response_status: Type.Unsafe<number | null>({
        type: ['integer', 'null'],
        description: 'HTTP status of the last answer; null without an answer',
      }),
      response_body: nullableString('the beginning of the last answer'),
      error: nullableString('why the last attempt failed'),
      duration_ms: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    },
    { description: 'An event on its way to a webhook' },
  ),
  {
    id: EXAMPLE_ID.delivery,
    event: {
      id: EXAMPLE_ID.event,
      type: 'webhook.test',
      version: EVENT_VERSION,
      timestamp: '2026-03-01T09:30:00.000Z',
      account_id: EXAMPLE_ID.account,
      install_id: null,
      data: { webhook_id: EXAMPLE_ID.webhook },
    },
    state: 'succeeded',
    attempts: 1,
    created_at: '2026-03-01T09:30:00.010Z',
    last_attempt_at: '2026-03-01T09:30:00.020Z',
    next_attempt_at: null,
    response_status: 204,
    response_body: '',
    error: null,
    duration_ms: 31,
  },
);

export type WebhookView = Static<typeof webhookSchema>;
export type WebhookWithSecret = Static<typeof webhookWithSecretSchema>;
export type CreateWebhook = Static<typeof createWebhookSchema>;
export type UpdateWebhook = Static<typeof updateWebhookSchema>;
export type DeliveryView = Static<typeof deliverySchema>;
