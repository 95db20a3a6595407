import type { Command } from 'commander';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printable, printJson, table } from '../terminal/output.ts';
import { addCopyCommands } from './copies.ts';
import { addCreateInstall } from './create-install.ts';
import { addDeletedInstalls } from './deleted-installs.ts';
import { addImportCommand } from './import-website.ts';
import { addInstallCapabilities } from './install-capabilities.ts';
import { addItemCommands } from './install-items.ts';
import { addInstallMail } from './install-mail.ts';
import { addInstallPhp } from './install-php.ts';
import { addRulesCommands } from './install-rules.ts';
import { addInstallWordPressCommand } from './install-wordpress.ts';
import { addInstallWp } from './install-wp.ts';
import { addLogCommand } from './logs.ts';
import { addMoveCommand } from './move-install.ts';
import { namedAccount } from './named-account.ts';
import { addOrphanCommands } from './orphans.ts';
import { addPolicyCommand, addUpdateCommand } from './wordpress-updates.ts';

export function addInstallCommands(program: Command): void {
  const install = program.command('install').alias('installs').description('manage installs as the operator');

  install
    .command('list')
    .description('list installs with host and state, by name')
    .option('--account <account>', 'installs of this account only: its name or id')
    .option(
      '--json',
      'print JSON: an array of id, name, status, environment, wordpress_version, lost_data (text or null), account (id, name), host, created_at',
    )
    .addHelpText('after', '\nExample:\n  homeport install list --account "Harbour Agency"')
    .action(listInstalls);

  addCreateInstall(install);

  addInstallCapabilities(install);

  addInstallWordPressCommand(install);

  addInstallPhp(install);

  addUpdateCommand(install);
  addPolicyCommand(install);
  addMoveCommand(install);
  addItemCommands(install);

  install
    .command('apply')
    .summary('apply the desired state of an install again')
    .description(
      'apply the desired state of an install to its host again, for example after a manual change ' +
        '("homeport doctor --host"). Waits for the result. A running server does the work, otherwise this command does',
    )
    .argument('<name>', 'the install')
    .option(
      '--from-scratch',
      'if the machine has nothing of the website, make an empty one. Use it only without a backup to restore: backups of the empty one would replace the good ones in time',
    )
    .option('--json', 'print JSON when it is done: job_id, install_id, install_name')
    .addHelpText('after', '\nExample:\n  homeport install apply harbourcafe')
    .action(applyAgain);

  install
    .command('login')
    .summary('create a link that signs in to the WordPress of an install')
    .description(
      'create a link that signs in to the WordPress of an install, once and within 60 seconds. The activity of the account ' +
        'records it. Open it in a browser',
    )
    .argument('<name>', 'the install')
    .option('--user <user>', 'a user name of the WordPress; by default its oldest administrator')
    .option('--json', 'print JSON: url, user, expires_at')
    .addHelpText('after', '\nExample:\n  homeport install login harbourcafe --user editor')
    .action(createLoginLink);

  install
    .command('database')
    .summary('create a link that opens the database of an install')
    .description(
      'create a link that opens the database of an install in a browser, once and within 60 seconds. The activity of the account ' +
        'records it',
    )
    .argument('<name>', 'the install')
    .option('--json', 'print JSON: url, expires_at')
    .addHelpText('after', '\nExample:\n  homeport install database harbourcafe')
    .action(createDatabaseLink);

  addInstallMail(install);
  addRulesCommands(install);
  addLogCommand(install);
  addDeletedInstalls(install);
  addCopyCommands(install);
  addImportCommand(install);
  addInstallWp(install);
  addOrphanCommands(install);
}

async function listInstalls({ account, json }: { account?: string; json?: boolean }, command: Command) {
  await withPlatform(command, async ({ database }, { accounts }) => {
    const of = account === undefined ? null : namedAccount(await accounts.listAll(), account);
    const { everyInstall } = await import('../../features/websites/installs/every-install-store.ts');
    const all = await everyInstall(database.reader, of?.id ?? null);
    if (json) return printJson(all);
    const closed = all.flatMap(({ name, lost_data }) =>
      lost_data === null
        ? []
        : `\n${name} is closed to visitors, because data is missing. ${printable(lost_data)}\n` +
          withOwnCommand(
            `  Choose a backup with "homeport backup list --install ${name}", and restore it with "homeport backup restore ID".\n`,
          ),
    );
    process.stdout.write(
      all.length === 0
        ? `There are no installs${of === null ? '' : ` in ${printable(of.name)}`} yet.\n`
        : table(
            ['NAME', 'STATUS', 'ENVIRONMENT', 'WORDPRESS', 'HOST', 'ACCOUNT'],
            all.map(({ name, status, lost_data, environment, wordpress_version, host, account }) => [
              name,
              lost_data === null ? status : 'closed',
              environment ?? '-',
              wordpress_version ?? '-',
              host ?? '-',
              account.name,
            ]),
          ) + closed.join(''),
    );
  });
}

async function applyAgain(
  name: string,
  { json, fromScratch = false }: { json?: boolean; fromScratch?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const { jobId, installId } = await services.installs.applyAgain(name, { fromScratch });
    const ended = await waitForJob(
      jobId,
      { title: `Applying ${name}`, subject: `The work on ${name}` },
      platform,
      services,
    );
    if (ended === undefined) return;
    if (ended.state !== 'succeeded') {
      throw new OperatorError(
        `${name} could not be applied: ${ended.error ?? 'the install was deleted meanwhile'}`,
      );
    }
    if (json) return printJson({ job_id: jobId, install_id: installId, install_name: name });
    process.stdout.write(`${name} is up to date.\n`);
  });
}

async function createLoginLink(
  name: string,
  { user, json }: { user?: string; json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (_platform, { loginLinks }) => {
    const link = await loginLinks.createAsOperator(name, user ?? null);
    if (json) return printJson({ url: link.url, user: link.user, expires_at: link.expiresAt });
    process.stderr.write(`Signs in as ${printable(link.user)}, once, within 60 seconds:\n`);
    process.stdout.write(`${link.url}\n`);
  });
}

async function createDatabaseLink(name: string, { json }: { json?: boolean }, command: Command) {
  await withPlatform(command, async (_platform, { databaseLinks }) => {
    const link = await databaseLinks.createAsOperator(name);
    if (json) return printJson({ url: link.url, expires_at: link.expiresAt });
    process.stderr.write(`Opens the database of ${printable(name)}, once, within 60 seconds:\n`);
    process.stdout.write(`${link.url}\n`);
  });
}
