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
 * The new address may be anybody's: those mails hold nothing that whoever asked has typed, neither names nor the address that they have
 * now.
 */

function confirmationMail(link: string): MailText {
  return {
    subject: 'Confirm your new e-mail address',
    text: [
      'Hello,',
      '',
      'somebody, most likely you, wants to sign in to Homeport with this address from now on.',
      'To confirm it, open',
      '',
      `  ${link}`,
      '',
      'and sign in there as until now, if you are not signed in. The link works once, for one hour.',
      'If it was not you, ignore this mail: nothing is changed.',
      '',
    ].join('\n'),
  };
}

/** To somebody whose address another person asked for. */
function takenMail(portal: string): MailText {
  return {
    subject: 'Your e-mail address was asked for',
    text: [
      'Hello,',
      '',
      'somebody who is signed in to Homeport as another person wanted to have this address for themselves.',
      'It is yours there already, so nothing is changed, and they were not told.',
      '',
      `If it was you: you have two sign-ins at ${portal}, and each address belongs to one of them.`,
      'If it was not you, you need do nothing.',
      '',
    ].join('\n'),
  };
}
