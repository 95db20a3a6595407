import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import type { Clock } from '../../lib/clock.ts';
import { createMailer } from '../../mail/mailer.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

const CHECK = 'mail';

/** Checks that the mail server accepts our sender, without sending. */
export async function checkMail(
  settings: Pick<Config, 'smtpUrl' | 'mailFrom' | 'dataDir'>,
  clock: Clock,
): Promise<Finding> {
  const { smtpUrl, dataDir } = settings;
  if (smtpUrl === null) {
    return warning(
      CHECK,
      `There is no mail server. Invitations and notices are only written to ${join(dataDir, 'mail')}.`,
      'Set HOMEPORT_SMTP_URL and HOMEPORT_MAIL_FROM to send them.',
    );
  }
  const { host } = new URL(smtpUrl);
  try {
    await createMailer(settings, clock).verify();
    return ok(CHECK, `The mail server ${host} accepts email.`);
  } catch (error) {
    return problem(
      CHECK,
      `The mail server ${host} does not accept email: ${reasonOf(error)}.`,
      'Start it, and check address, user and password in HOMEPORT_SMTP_URL.',
    );
  }
}
