import { defineJob, type JobKind } from '../../jobs/job.ts';
import type { Mailer, MailText } from '../../mail/mailer.ts';
import { sendInvitation } from './jobs.ts';
import type { InvitationService, OpenInvitation } from './service.ts';

export function invitationJobKinds(invitations: InvitationService, mailer: Mailer, days: number): JobKind[] {
  return [
    defineJob({
      ...sendInvitation,
      async run({ account_id, user_id }) {
        const made = await invitations.createLink(account_id, user_id);
        if (made)
          await mailer.send({
            to: made.invitation.email,
            ...invitationMail(made.invitation, made.link, days),
          });
      },
    }),
  ];
}

function invitationMail(invitation: OpenInvitation, link: string, days: number): MailText {
  return {
    subject: `You are invited to ${invitation.account_name}`,
    text: [
      `Hello ${invitation.first_name},`,
      '',
      `you are invited to the hosting account ${invitation.account_name}.`,
      'To accept, open',
      '',
      `  ${link}`,
      '',
      `The link works once, for ${days} ${days === 1 ? 'day' : 'days'}.`,
      'If you did not expect this mail, ignore it.',
      '',
    ].join('\n'),
  };
}
