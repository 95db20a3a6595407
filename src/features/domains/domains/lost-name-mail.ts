import type { MailText } from '../../../mail/mailer.ts';
import type { LostName } from './ownership-jobs.ts';

/** The mail to an owner when another account has proved a domain that their install served. */
export function lostNameMail(
  { first_name, account, install, install_id, name }: Omit<LostName, 'to'>,
  publicUrl: string,
): MailText {
  return {
    subject: `${name} is no longer served by your install ${install}`,
    text: [
      `Hello ${first_name},`,
      '',
      `another account has proved with a DNS record that it owns ${name}, which your install had not.`,
      `Your install ${install} no longer serves this name, and its certificate is deleted.`,
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
