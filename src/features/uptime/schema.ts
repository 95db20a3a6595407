import { EXAMPLE_ID } from '../../api/example-ids.ts';
import {
  component,
  nullable,
  nullableString,
  nullableTimestamp,
  stringEnum,
  Type,
  timestamp,
  uuid,
} from '../../api/schema.ts';
import { grantedInstall } from '../accounts/account-users/schema.ts';
import { STATES } from './history.ts';
import { INCIDENT_CAUSES } from './judgement.ts';

const nullablePercentage = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], minimum: 0, maximum: 100, description });

const causeSchema = stringEnum(
  INCIDENT_CAUSES,
  '`status`: 500 or above, or 404; `timeout`: no answer in 10 seconds; `connection`: refused, closed or not HTTP; `certificate`: expired or no TLS; `redirects`: they lead nowhere; `wordpress`: its critical error, no database, or its installation; `php`: an error that visitors see, or an empty page; `host`: the machine does not answer',
);

const incidentExample = {
  id: EXAMPLE_ID.incident,
  install: { id: EXAMPLE_ID.install, name: 'shop' },
  cause: 'status' as const,
  message: 'The home page answered 500.',
  php_error: 'Uncaught Error: Call to undefined function shop_cart() in wp-content/plugins/shop/shop.php:7',
  started_at: '2026-01-31T09:30:00.000Z',
  ended_at: '2026-01-31T09:42:00.000Z',
  duration_seconds: 720,
};

export const incidentSchema = component(
  'Incident',
  Type.Object(
    {
      id: uuid(),
      install: grantedInstall,
      cause: causeSchema,
      message: Type.String({ description: 'what visitors got, in one sentence' }),
      php_error: nullableString(
        'the first error of that time in the PHP log, with file and line; null: there is none, or the host has no log',
      ),
      started_at: timestamp('of the first check that failed; ISO 8601, UTC'),
      ended_at: nullableTimestamp('of the first check that succeeded again; null: it has not ended'),
      duration_seconds: Type.Integer({ description: 'until now, if it has not ended' }),
    },
    { description: 'A time in which a website did not answer its visitors as it should' },
  ),
  incidentExample,
);

const percentagesExample = {
  last_24_hours: 99.166,
  last_7_days: 99.88,
  last_30_days: 99.972,
  last_90_days: null,
};

const percentagesSchema = component(
  'UptimePercentages',
  Type.Object(
    {
      last_24_hours: nullablePercentage('null: nothing is known of this time'),
      last_7_days: nullablePercentage('as above'),
      last_30_days: nullablePercentage('as above'),
      last_90_days: nullablePercentage('as above'),
    },
    {
      description:
        'Share of the checked time in which the website was up, in percent. Time without checks counts neither way.',
    },
  ),
  percentagesExample,
);

const dayExample = {
  date: '2026-01-31',
  percentage: 99.166,
  down_seconds: 720,
  observed_seconds: 86_340,
};

const daySchema = component(
  'UptimeDay',
  Type.Object(
    {
      date: Type.String({ format: 'date', description: 'a UTC day' }),
      percentage: nullablePercentage('null: nothing is known of this day'),
      down_seconds: Type.Integer({ minimum: 0 }),
      observed_seconds: Type.Integer({
        minimum: 0,
        description: 'the seconds of the day for which the state is known',
      }),
    },
    { description: 'A day of a website' },
  ),
  dayExample,
);

export const uptimeSchema = component(
  'Uptime',
  Type.Object(
    {
      monitored: Type.Boolean({ description: 'whether Homeport asks the home page each minute' }),
      reason: nullableString('why not, in one sentence; null: it is monitored'),
      state: stringEnum(STATES, '`unknown`: it was not checked in the last 3 minutes'),
      since: nullableTimestamp('since when it is in this state; null: it was never checked'),
      checked_at: nullableTimestamp('of the last check; null: it was never checked'),
      percentages: percentagesSchema,
      days: Type.Array(daySchema, { description: 'the last 90 UTC days, oldest first, today included' }),
      incident: nullable(incidentSchema),
    },
    { description: 'Whether a website answers its visitors, and how often it did' },
  ),
  {
    monitored: true,
    reason: null,
    state: 'up' as const,
    since: '2026-01-31T09:42:00.000Z',
    checked_at: '2026-01-31T11:00:00.000Z',
    percentages: percentagesExample,
    days: [dayExample],
    incident: null,
  },
);
