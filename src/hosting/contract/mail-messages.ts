import Type from 'typebox';
import { LISTED_MESSAGES, LISTED_REFUSALS, NAMED_RECIPIENTS } from './mail.ts';
import { closed, count, install, orNull, sentences, text, uuid } from './message-values.ts';

// Schemas of the commands about mail.

const time = Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$' });

export const installMail = Type.Union([
  Type.Object({
    hasRelay: Type.Boolean(),
    limitPerHour: count,
    sentLastHour: count,
    queued: count,
    sender: text(320),
    refusals: Type.Optional(
      Type.Array(
        Type.Object({
          time,
          reason: sentences,
          recipients: Type.Array(text(320), { maxItems: NAMED_RECIPIENTS }),
        }),
        { maxItems: LISTED_REFUSALS },
      ),
    ),
  }),
  Type.Object({ refused: Type.Literal('website'), reason: sentences }),
]);

export const mailSelection = Type.Object(
  {
    installId: orNull(uuid),
    ids: orNull(Type.Array(uuid, { maxItems: LISTED_MESSAGES })),
  },
  closed,
);

export const mailQueueReport = Type.Object({
  relay: orNull(text(300)),
  fault: orNull(sentences),
  messages: count,
  bytes: count,
  oldest: orNull(time),
  listed: Type.Array(
    Type.Object({
      id: uuid,
      install,
      recipients: count,
      bytes: count,
      queuedAt: time,
      attempts: count,
      nextAt: time,
      reason: orNull(sentences),
    }),
    { maxItems: LISTED_MESSAGES },
  ),
});
