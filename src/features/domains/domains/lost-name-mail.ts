import type { MailText } from '../../../mail/mailer.ts';
import type { LostName } from './ownership-jobs.ts';

/** The email to an owner after another account has verified a domain that their install served. */
export function lostNameMail(
  { first_name, account, install, install_id, name }: Omit<LostName, 'to'>,
  publicUrl: string,
): MailText {
  return {
    subject: `${name} is no longer served by your install ${install}`,
    text: [
      `Hello ${first_name},`,
      '',
      `another account has verified with a DNS record that it owns ${name}. Your account had not verified it.`,
      `Your install ${install} no longer serves this name, and its certificate has been deleted.`,
      '',
      `Account:  ${account}`,
      `Install:  ${install}`,
      `Domain:   ${name}`,
      '',
      'If the domain is yours, add the TXT record that the portal shows, and verify the domain:',
      '',
      `  ${publicUrl}/installs/${install_id}`,
      '',
      'If it is not yours, remove it there.',
      '',
    ].join('\n'),
  };
}
