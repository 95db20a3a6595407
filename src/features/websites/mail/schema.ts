import { component, Type } from '../../../api/schema.ts';

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
