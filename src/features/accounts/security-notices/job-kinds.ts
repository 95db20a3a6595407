import { RATE_LIMITS, type RateCounter, rateLimitKey } from '../../../access/rate-limits.ts';
import { defineJob, type JobKind } from '../../../jobs/job.ts';
import type { Mailer } from '../../../mail/mailer.ts';
import { type AccessEvent, sendSecurityNotice } from './jobs.ts';
import { noticeMail } from './mail.ts';

const { size, windowSeconds } = RATE_LIMITS.securityNotices;

/** Limits notices of one kind to one user, so that credentials created in a loop flood no mailbox. */
export interface NoticeLimits {
  /** Counts a mail. Returns whether it may be sent. */
  allow(userId: string, kind: AccessEvent['kind']): Promise<boolean>;
}

export function createNoticeLimits(counter: RateCounter): NoticeLimits {
  return {
    async allow(userId, kind) {
      const { allowed } = await counter.spend(
        rateLimitKey(RATE_LIMITS.securityNotices, userId, kind),
        size,
        windowSeconds,
      );
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
        // Retries count once.
        if (attempt === 1 && !(await limits.allow(notice.user_id, notice.event.kind))) {
          log.info({ notice: notice.event.kind }, 'security notice dropped: hourly limit reached');
          return;
        }
        await mailer.send({ to: notice.to, ...noticeMail(notice, publicUrl) });
      },
    }),
  ];
}
