import { component, Type, timestamp } from '../../../api/schema.ts';
import { LISTED_REFUSALS, NAMED_RECIPIENTS, REFUSALS_DAYS } from '../../../hosting/contract/mail.ts';

const MOST_PER_HOUR = 1_000_000;

const perHour = (description: string) => Type.Integer({ minimum: 0, maximum: MOST_PER_HOUR, description });

export const installMailSchema = component(
  'InstallMail',
  Type.Object(
    {
      limit_per_hour: perHour('recipients that the install may send to within an hour; 0 for none'),
      most_per_hour: perHour('the highest limit that the operator allows'),
      sent_last_hour: Type.Integer({
        minimum: 0,
        description: 'recipients of the messages that were accepted in the last hour',
      }),
      queued: Type.Integer({
        minimum: 0,
        description: 'messages that wait for the mail server of the platform',
      }),
      sender: Type.String({ description: 'envelope sender of every message, which gets bounces' }),
      can_send: Type.Boolean({
        description: 'false if the host has no mail server to send to; it then refuses every message',
      }),
      last_refused: Type.Union(
        [
          Type.Array(
            component(
              'RefusedMail',
              Type.Object({
                refused_at: timestamp(),
                reason: Type.String({
                  description: 'one sentence of the host, or the answer of the mail server',
                }),
                recipients: Type.Array(Type.String(), {
                  description: `the first ${NAMED_RECIPIENTS}; none if it was refused before they were known`,
                }),
              }),
              {
                refused_at: '2026-03-02T02:10:00.000Z',
                reason: 'the limit of 200 recipients in an hour is reached',
                recipients: ['ann@example.com'],
              },
            ),
          ),
          Type.Null(),
        ],
        {
          description: `the last messages that no one got, latest first: up to ${LISTED_REFUSALS} of the last ${REFUSALS_DAYS} days, each reason once a minute; null if the host does not list them`,
        },
      ),
    },
    { description: 'The mail that the website of an install sends' },
  ),
  {
    limit_per_hour: 200,
    most_per_hour: 200,
    sent_last_hour: 12,
    queued: 0,
    sender: 'myinstall@myinstall.sites.example.com',
    can_send: true,
    last_refused: [
      {
        refused_at: '2026-03-02T02:10:00.000Z',
        reason: 'the limit of 200 recipients in an hour is reached',
        recipients: ['ann@example.com'],
      },
    ],
  },
);

export const updateInstallMailSchema = component(
  'UpdateInstallMail',
  Type.Object({
    limit_per_hour: Type.Union([perHour('0 switches mail off'), Type.Null()], {
      description: 'at most `most_per_hour`; null removes the limit of your own',
    }),
  }),
  { limit_per_hour: 50 },
);
