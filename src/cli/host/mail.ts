import { type Command, InvalidArgumentError } from 'commander';
import { findInstallId } from '../../features/websites/installs/website-store.ts';
import { LISTED_MESSAGES } from '../../hosting/contract/choices.ts';
import type { MailQueueReport, MailSelection } from '../../hosting/contract/mail.ts';
import { parseUuid } from '../../lib/ids.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Platform } from '../../platform/platform.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { requireConsent } from '../terminal/confirm.ts';
import { printable, printJson, shownTime, table } from '../terminal/output.ts';

interface Options {
  install?: string;
  id?: string[];
  retry?: boolean;
  delete?: boolean;
  yes?: boolean;
  json?: boolean;
}

/** Adds `host mail`. */
export function addHostMail(host: Command): void {
  host
    .command('mail')
    .summary('show the mail queue of a host; retry or delete messages')
    .description(
      'show the messages of websites that wait on a host for the relay, oldest first. --retry attempts to deliver them now, --delete ' +
        'deletes them undelivered; both take all messages unless --install or --id selects some',
    )
    .argument('<name>', 'the host')
    .option('--install <install>', 'messages of this install only')
    .option('--id <id>', 'this message only; can be repeated', collectIds)
    .option('--retry', 'deliver the messages now')
    .option('--delete', 'delete the messages undelivered')
    .option('-y, --yes', 'delete without asking')
    .option(
      '--json',
      'print JSON: relay, fault, messages, bytes, oldest, listed (id, install, recipients, bytes, queuedAt, attempts, nextAt, reason); retried or deleted',
    )
    .addHelpText('after', '\nExample:\n  homeport host mail web2 --install harbourcafe --delete')
    .action(handleMail);
}

function collectIds(text: string, ids: string[] = []): string[] {
  if (parseUuid(text) !== text) throw new InvalidArgumentError('It must be the id of a message.');
  if (ids.length >= LISTED_MESSAGES)
    throw new InvalidArgumentError(`Name at most ${LISTED_MESSAGES} messages.`);
  return [...ids, text];
}

async function handleMail(name: string, options: Options, command: Command): Promise<void> {
  if (options.retry && options.delete) throw new OperatorError('Choose --retry or --delete.');
  await withPlatform(command, async (platform, { hosts }) => {
    const { askHost } = await import('../platform/ask-host.ts');
    const selection = await selectionOf(platform, options);
    const target = await hosts.target(name);
    if (options.retry) {
      const retried = await askHost(target, (remote) => remote.retryMail(selection));
      if (options.json) return printJson({ retried });
      process.stdout.write(`${countOf(retried)} will be delivered now.\n`);
      return;
    }
    if (options.delete) {
      const { messages } = await askHost(target, (remote) => remote.mailQueue(selection));
      if (messages > 0 && !options.yes) {
        await requireConsent(`Delete ${countOf(messages)} undelivered?`, {
          effect: 'Deleted messages never reach their recipients.',
          kept: 'Nothing was deleted.',
        });
      }
      const deleted = await askHost(target, (remote) => remote.deleteMail(selection));
      if (options.json) return printJson({ deleted });
      process.stdout.write(`Deleted ${countOf(deleted)}.\n`);
      return;
    }
    const report = await askHost(target, (remote) => remote.mailQueue(selection));
    if (options.json) return printJson(report);
    process.stdout.write(shown(name, report));
  });
}

async function selectionOf({ database }: Platform, { install, id }: Options): Promise<MailSelection> {
  const installId = install === undefined ? null : await findInstallId(database.reader, install);
  if (installId !== undefined) return { installId, ids: id ?? null };
  throw new OperatorError(`There is no install "${install}"; "homeport install list" shows them all.`);
}

const countOf = (messages: number) => (messages === 1 ? '1 message' : `${messages} messages`);

function shown(name: string, { relay, fault, messages, bytes, oldest, listed }: MailQueueReport): string {
  const head = [
    relay === null
      ? `${name} has no relay (HOMEPORT_RELAY_URL), so its websites cannot send mail.`
      : `Relay   ${printable(relay)}${fault === null ? '' : `, not usable: ${printable(fault)}`}`,
    `Queued  ${countOf(messages)}, ${Math.ceil(bytes / 1024)} KiB${oldest === null ? '' : `, the oldest since ${shownTime(oldest, '-')}`}`,
  ];
  if (listed.length === 0) return `${head.join('\n')}\n`;
  const rows = listed.map((message) => [
    message.id,
    printable(message.install.name),
    String(message.recipients),
    shownTime(message.queuedAt, '-'),
    String(message.attempts),
    shownTime(message.nextAt, '-'),
    printable(message.reason ?? '-'),
  ]);
  const rest = messages - listed.length;
  return `${head.join('\n')}\n\n${table(['ID', 'INSTALL', 'RECIPIENTS', 'QUEUED', 'ATTEMPTS', 'NEXT', 'REASON'], rows)}${rest > 0 ? `\n${countOf(rest)} more.\n` : ''}`;
}
