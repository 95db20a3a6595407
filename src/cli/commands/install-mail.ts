import { type Command, InvalidArgumentError } from 'commander';
import { presentMail } from '../../features/websites/mail/present.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printable, printJson } from '../terminal/output.ts';

const MOST_PER_HOUR = 1_000_000;

/** Adds `install mail`. */
export function addInstallMail(install: Command): void {
  install
    .command('mail')
    .summary('show and limit the mail of an install')
    .description(
      'show the mail limit, counts and envelope sender of an install. --limit sets how many recipients its users may allow it in an ' +
        'hour, in place of HOMEPORT_INSTALL_MAILS_PER_HOUR',
    )
    .argument('<name>', 'the install')
    .option('--limit <recipients>', 'recipients in an hour; "default" for the setting', limitArgument)
    .option(
      '--json',
      'print JSON: limit_per_hour, most_per_hour, sent_last_hour, queued, sender, can_send, last_refused',
    )
    .addHelpText('after', '\nExample:\n  homeport install mail harbourcafe --limit 1000')
    .action(showMail);
}

function limitArgument(text: string): number | 'default' {
  if (text === 'default') return text;
  const limit = Number(text);
  if (/^\d{1,7}$/.test(text) && limit <= MOST_PER_HOUR) return limit;
  throw new InvalidArgumentError(`It must be a whole number from 0 to ${MOST_PER_HOUR}, or "default".`);
}

async function showMail(
  name: string,
  { limit, json }: { limit?: number | 'default'; json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    if (limit !== undefined) {
      const jobId = await services.mail.allow(name, limit === 'default' ? null : limit);
      const title = `Changing the mail limit of ${name}`;
      const ended = await waitForJob(jobId, { title, subject: `The change of ${name}` }, platform, services);
      if (ended === undefined) return;
      if (ended.state !== 'succeeded') {
        throw new OperatorError(
          `The host did not get the new limit: ${ended.error ?? 'the install was deleted'}`,
        );
      }
    }
    const mail = await services.mail.getAsOperator(name);
    const { limitPerHour, mostPerHour, sentLastHour, queued, sender, hasRelay, refusals = [] } = mail;
    if (json) return printJson(presentMail(mail));
    const lines = [
      `Limit      ${limitPerHour} recipients an hour (the operator allows ${mostPerHour})`,
      `Last hour  ${sentLastHour} recipients`,
      `Queued     ${queued} messages`,
      `Sender     ${printable(sender)}`,
      ...(hasRelay ? [] : ['Its host has no relay (HOMEPORT_RELAY_URL), so it refuses every message.']),
      ...(refusals.length === 0 ? [] : ['', 'Refused in the last days:']),
      ...refusals.map(({ time, reason }) => `${time}  ${printable(reason)}`),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
  });
}
