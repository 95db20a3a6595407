import type { Static } from '../../../api/schema.ts';
import type { installMailSchema } from './schema.ts';
import type { MailView } from './service.ts';

/** The mail of an install as the API and the command line show it. */
export function presentMail(view: MailView): Static<typeof installMailSchema> {
  const { limitPerHour, mostPerHour, sentLastHour, queued, sender, hasRelay, refusals } = view;
  return {
    limit_per_hour: limitPerHour,
    most_per_hour: mostPerHour,
    sent_last_hour: sentLastHour,
    queued,
    sender,
    can_send: hasRelay,
    last_refused:
      refusals?.map(({ time, reason, recipients }) => ({ refused_at: time, reason, recipients })) ?? null,
  };
}
