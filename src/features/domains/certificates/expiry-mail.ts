import { DAY_MS } from '../../../lib/durations.ts';
import { withOwnCommand } from '../../../lib/own-command.ts';
import type { MailText } from '../../../mail/mailer.ts';

export interface ExpiringCertificate {
  domain: string;
  install: string;
  /** ISO 8601. */
  not_after: string;
  /** One sentence that says why the authority issued no new one; null without an attempt. */
  reason: string | null;
}

const LONGEST_LIST = 100;

/** The email to the operator about certificates that were not renewed in time, soonest expiry first. */
export function expiryMail(certificates: ExpiringCertificate[], now: Date): MailText {
  const [first] = certificates;
  const listed = certificates.slice(0, LONGEST_LIST);
  const left = certificates.length - listed.length;
  return {
    subject:
      certificates.length === 1 && first !== undefined
        ? `The certificate of ${first.domain} ${expiry(first.not_after, now)}`
        : `${certificates.length} certificates expire soon`,
    text: [
      'These certificates are about to expire, and renewal has not replaced them:',
      '',
      ...listed.flatMap(({ domain, install, not_after, reason }) => [
        `${domain} (install ${install})`,
        `  ${expiry(not_after, now)}, on ${not_after.slice(0, 16).replace('T', ' ')} UTC`,
        `  ${reason ?? withOwnCommand('Renewal has not been tried; check that a worker is running: homeport doctor')}`,
        '',
      ]),
      ...(left > 0 ? [`and ${left} more.`, ''] : []),
      'What to do: fix the problem above (a status report of the domain says more: check_status in the API),',
      'or remove domains that are no longer used. Renewal is retried automatically.',
      '',
    ].join('\n'),
  };
}

function expiry(notAfter: string, now: Date): string {
  const days = Math.ceil((Date.parse(notAfter) - now.getTime()) / DAY_MS);
  if (days <= 0) return 'has expired';
  return days === 1 ? 'expires within a day' : `expires in ${days} days`;
}
