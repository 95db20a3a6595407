import { defineJob, type JobKind } from '../../../jobs/job.ts';
import type { Mailer } from '../../../mail/mailer.ts';
import { askNewAddress } from './jobs.ts';
import { confirmationMail, takenMail } from './mails.ts';
import type { EmailChangeService } from './service.ts';

export function emailChangeJobKinds(
  changes: EmailChangeService,
  mailer: Mailer,
  { publicUrl }: { publicUrl: string },
): JobKind[] {
  return [
    defineJob({
      ...askNewAddress,
      async run({ change_id }) {
        const asked = await changes.createLink(change_id);
        if (!asked) return;
        const { email: to, link } = asked;
        await mailer.send({ to, ...(link === null ? takenMail(publicUrl) : confirmationMail(link)) });
      },
    }),
  ];
}
