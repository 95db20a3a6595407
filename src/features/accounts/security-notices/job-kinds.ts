import { defineJob, type JobKind } from '../../../jobs/job.ts';
import { HOUR_SECONDS } from '../../../lib/durations.ts';
import type { Mailer } from '../../../mail/mailer.ts';
import type { AttemptCounter } from '../../identity/limits/sign-in-limits.ts';
import { type AccessEvent, sendSecurityNotice } from './jobs.ts';
import { noticeMail } from './mail.ts';

/** Of one kind, to one person: who makes credentials in a loop, or has taken a session over, floods no mailbox. */
const MOST_AN_HOUR = 5;

export interface NoticeLimits {
  /** Counts a mail. Returns whether it may be sent. */
  mayTell(userId: string, kind: AccessEvent['kind']): Promise<boolean>;
}

export function createNoticeLimits(counter: AttemptCounter): NoticeLimits {
  return {
    async mayTell(userId, kind) {
      const { allowed } = await counter.spend(`notices:${userId}:${kind}`, MOST_AN_HOUR, HOUR_SECONDS);
      return allowed;
    },
  };
}

export function securityNoticeJobKinds(
  limits: NoticeLimits,
  mailer: Mailer,
  { publicUrl }: { publicUrl: string },
): JobKind[] {
  return [
    defineJob({
      ...sendSecurityNotice,
      async run(notice, { attempt, log }) {
        // Counted once, however often the mail server has to be tried.
        if (attempt === 1 && !(await limits.mayTell(notice.user_id, notice.event.kind))) {
          log.info({ notice: notice.event.kind }, 'the person has been told enough of this in this hour');
          return;
        }
        await mailer.send({ to: notice.to, ...noticeMail(notice, publicUrl) });
      },
    }),
  ];
}
