import { component, nullableString, stringEnum, Type, timestamp } from '../../../api/schema.ts';
import { MAIL_EVENTS, PHP_LEVELS } from '../../../hosting/contract/logs.ts';

const nullableNumber = (description: string) =>
  Type.Unsafe<number | null>({ type: ['number', 'null'], description });
const nullableInteger = (description: string) =>
  Type.Unsafe<number | null>({ type: ['integer', 'null'], description });

const accessExample = {
  time: '2026-01-31T09:30:12.250Z',
  address: '192.0.2.77',
  method: 'GET',
  scheme: 'https',
  host: 'shop.example',
  path: '/products/',
  status: 200,
  bytes: 18_211,
  cache: 'MISS',
  seconds: 0.231,
  php_seconds: 0.224,
  user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  referrer: 'https://shop.example/',
};

export const accessEntrySchema = component(
  'AccessLogEntry',
  Type.Object(
    {
      time: timestamp('when the answer ended; ISO 8601, UTC'),
      address: Type.String({
        description:
          'the visitor’s address; after 24 hours its network (`/24`, `/48`), unless the operator decides otherwise',
      }),
      method: Type.String(),
      scheme: Type.String(),
      host: Type.String(),
      path: Type.String({ description: 'without the query' }),
      status: Type.Integer({ description: '0 if the visitor left before an answer' }),
      bytes: Type.Integer({ description: 'sent to the visitor' }),
      cache: nullableString('of the page cache: HIT, MISS, BYPASS, EXPIRED, STALE, …; null without it'),
      seconds: Type.Number({ description: 'duration of the answer' }),
      php_seconds: nullableNumber('time of PHP, or of the bucket for offloaded files; null without either'),
      user_agent: Type.String(),
      referrer: Type.String({ description: 'without the query' }),
    },
    { description: 'A request to the website' },
  ),
  accessExample,
);

const phpExample = {
  time: '2026-01-31T09:30:12.000Z',
  level: 'error',
  message: 'PHP Fatal error:  Uncaught Error: Call to undefined function shop() in …/theme/functions.php:7',
} as const;

export const phpEntrySchema = component(
  'PhpLogEntry',
  Type.Object(
    {
      time: timestamp(),
      level: stringEnum(PHP_LEVELS, '`message`: written by the website itself'),
      message: Type.String({ description: 'may have several lines' }),
    },
    { description: 'A message in PHP’s error log' },
  ),
  phpExample,
);

const cronExample = { time: '2026-01-31T09:30:00.000Z', seconds: 0.84, exit: 0, output: '' };

export const cronEntrySchema = component(
  'CronLogEntry',
  Type.Object(
    {
      time: timestamp('when the run started; ISO 8601, UTC'),
      seconds: Type.Number({ description: 'duration of the run' }),
      exit: nullableInteger('exit status; null if the run was ended, because it took too long'),
      output: Type.String({ description: 'the end of what it printed' }),
    },
    { description: 'A run of the website’s scheduled tasks' },
  ),
  cronExample,
);

const mailExample = {
  time: '2026-01-31T09:30:12.250Z',
  id: '4f1c9a7e52',
  event: 'sent' as const,
  sender: 'wordpress@shop.example',
  recipients: ['customer@example.com'],
  recipient_count: 1,
  bytes: 4_120,
  reason: '250 2.0.0 Ok: queued',
};

export const mailEntrySchema = component(
  'MailLogEntry',
  Type.Object(
    {
      time: timestamp(),
      id: nullableString('of the message in the queue; null if it was refused'),
      event: stringEnum(MAIL_EVENTS),
      sender: Type.String(),
      recipients: Type.Array(Type.String(), { description: 'the first 20' }),
      recipient_count: Type.Integer(),
      bytes: nullableInteger('size of the message'),
      reason: nullableString('the answer of the relay, or why the message was refused'),
    },
    { description: 'An event of a message that the website sent' },
  ),
  mailExample,
);

const pageMembers = {
  next_cursor: nullableString(
    'send it as `cursor` to get older entries; null at the end. A long search ends early, with few results or none, but a cursor',
  ),
  follow_cursor: Type.String({ description: 'send it as `cursor` to follow what comes after this answer' }),
};
const pageExample = { next_cursor: '2026-01-31.1.48213', follow_cursor: '2026-01-31.1.50122' };

export const accessPageSchema = component(
  'AccessLogPage',
  Type.Object({ results: Type.Array(accessEntrySchema), ...pageMembers }),
  { results: [accessExample], ...pageExample },
);
export const phpPageSchema = component(
  'PhpLogPage',
  Type.Object({ results: Type.Array(phpEntrySchema), ...pageMembers }),
  { results: [phpExample], ...pageExample },
);
export const cronPageSchema = component(
  'CronLogPage',
  Type.Object({ results: Type.Array(cronEntrySchema), ...pageMembers }),
  { results: [cronExample], ...pageExample },
);
export const mailPageSchema = component(
  'MailLogPage',
  Type.Object({ results: Type.Array(mailEntrySchema), ...pageMembers }),
  { results: [mailExample], ...pageExample },
);
