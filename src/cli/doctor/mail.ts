import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { createMailer } from '../../mail/mailer.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

const CHECK = 'mail';

/** Whether the mail server takes mails of ours. Sends none. */
export async function checkMail(
  settings: Pick<Config, 'smtpUrl' | 'mailFrom' | 'dataDir'>,
  clock: Clock,
): Promise<Finding> {
  const { smtpUrl, dataDir } = settings;
  if (smtpUrl === null) {
    return warning(
      CHECK,
      `There is no mail server: invitations and notices are only written to ${join(dataDir, 'mail')}.`,
      'Set HOMEPORT_SMTP_URL (and HOMEPORT_MAIL_FROM) to have them sent.',
    );
  }
  const { host } = new URL(smtpUrl);
  try {
    await createMailer(settings, clock).verify();
    return ok(CHECK, `The mail server ${host} takes our mails.`);
  } catch (error) {
    return problem(
      CHECK,
      `The mail server ${host} does not take our mails: ${reasonOf(error)}.`,
      'See that it runs, and that HOMEPORT_SMTP_URL has the right address, user and password.',
    );
  }
}
