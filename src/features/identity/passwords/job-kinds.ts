import { defineJob, type JobKind } from '../../../jobs/job.ts';
import type { Mailer, MailText } from '../../../mail/mailer.ts';
import { sendPasswordReset } from './jobs.ts';
import type { PasswordService } from './service.ts';

export function passwordJobKinds(passwords: PasswordService, mailer: Mailer): JobKind[] {
  return [
    defineJob({
      ...sendPasswordReset,
      async run({ email_key }) {
        const made = await passwords.createResetLink(email_key);
        if (made) await mailer.send({ to: made.email, ...resetMail(made.firstName, made.link) });
      },
    }),
  ];
}

function resetMail(firstName: string, link: string): MailText {
  return {
    subject: 'Set a new password',
    text: [
      `Hello ${firstName},`,
      '',
      'Someone, most likely you, asked to set a new password for Homeport.',
      'To choose one, open',
      '',
      `  ${link}`,
      '',
      'The link works once, for one hour. Links in earlier mails no longer work.',
      'You can also revoke your API credentials there. Your SSH keys stay.',
      'Check both if you suspect that someone else has access.',
      'If it was not you, ignore this mail. Your password stays as it is.',
      '',
    ].join('\n'),
  };
}
