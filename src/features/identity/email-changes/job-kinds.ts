import { defineJob, type JobKind } from '../../../jobs/job.ts';
import type { Mailer, MailText } from '../../../mail/mailer.ts';
import { askNewAddress } from './jobs.ts';
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

/*
 * The new address may belong to anyone, so these mails contain nothing that the user has entered: no names, and not their
 * current address.
 */

function confirmationMail(link: string): MailText {
  return {
    subject: 'Confirm your new email address',
    text: [
      'Hello,',
      '',
      'Someone, most likely you, wants to sign in to Homeport with this address.',
      'To confirm it, open',
      '',
      `  ${link}`,
      '',
      'and sign in there with your current address, if needed. The link works once, for one hour.',
      'If it was not you, ignore this mail. Nothing changes.',
      '',
    ].join('\n'),
  };
}

/** To a user whose address another user requested. */
function takenMail(portal: string): MailText {
  return {
    subject: 'Another user requested your email address',
    text: [
      'Hello,',
      '',
      'Another user of Homeport requested this address for their own account.',
      'It already belongs to your account, so nothing has changed. They do not learn that you have it.',
      '',
      `If it was you, you have two user accounts at ${portal}, each with its own address.`,
      'If it was not you, you need not do anything.',
      '',
    ].join('\n'),
  };
}
