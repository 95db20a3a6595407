import { defineJob, type JobKind } from '../../../jobs/job.ts';
import type { Mailer } from '../../../mail/mailer.ts';
import { sendSecurityNotice } from './jobs.ts';
import { noticeMail } from './mail.ts';
import type { NoticeLimits } from './notice-limits.ts';

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
