import { defineJob, type JobKind } from '../../../jobs/job.ts';
import type { Mailer, MailText } from '../../../mail/mailer.ts';
import { sendInvitation } from './jobs.ts';
import type { InvitationService, Inviter, OpenInvitation } from './service.ts';

export function invitationJobKinds(invitations: InvitationService, mailer: Mailer, days: number): JobKind[] {
  return [
    defineJob({
      ...sendInvitation,
      async run({ account_id, user_id, invited_by }) {
        const made = await invitations.createLink(account_id, user_id, invited_by);
        if (made) await mailer.send({ to: made.invitation.email, ...invitationMail(made, days) });
      },
    }),
  ];
}

function invitationMail(
  { invitation, inviter, link }: { invitation: OpenInvitation; inviter: Inviter | undefined; link: string },
  days: number,
): MailText {
  return {
    subject: `You are invited to ${invitation.account_name}`,
    text: [
      `Hello ${invitation.first_name},`,
      '',
      `${invites(inviter)} to the account ${invitation.account_name}.`,
      `Its websites are hosted with Homeport. You can manage them in the portal at ${new URL(link).host}.`,
      '',
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

/** Includes the address, because users choose their names freely. */
const invites = (inviter: Inviter | undefined): string =>
  inviter === undefined
    ? 'You are invited'
    : `${inviter.first_name} ${inviter.last_name} (${inviter.email}) invites you`;
