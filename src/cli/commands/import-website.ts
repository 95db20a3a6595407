import { type Command, Option } from 'commander';
import { NotFound } from '../../lib/failures.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { requireConsent } from '../terminal/confirm.ts';
import { printable, printJson } from '../terminal/output.ts';

export function addImportCommand(install: Command): void {
  install
    .command('import')
    .summary('import an existing website into an install')
    .description(
      'replace the website of an install by an existing one from an archive or from the old host by SSH, and wait for the result. A ' +
        'backup is made first, and put back if the imported website does not answer. A running server does the work, otherwise this ' +
        'command does. For SSH, add the key that "homeport install import-key" prints to the authorized_keys of the old host',
    )
    .argument('<name>', 'the install')
    .argument(
      '<source>',
      'the path of an archive below the folder of the install, such as private/website.zip, a URL with https, or the old host as ssh://user@host[:port]/path',
    )
    .option(
      '--host-key <fingerprint>',
      'the confirmed host key of the old host, SHA256:…; without it, the command shows it',
    )
    .option(
      '--site <name>',
      'the website to import from an archive with several: its domain or folder; without it, the command lists them',
    )
    .option('--yes', 'replace the current website without asking')
    .option(
      '--json',
      'print JSON when it is done: job_id, install_id, install_name, and left_out if something was not imported',
    )
    .addHelpText(
      'after',
      [
        '\nExample:',
        '  homeport install import harbourcafe private/website.zip --yes',
        '  homeport install import harbourcafe private/backup-1.31.2026_ada.tar.gz --site shop.example',
        '  homeport install import harbourcafe ssh://ada@old.example/~/public_html',
      ].join('\n'),
    )
    .action(importWebsite);
  install
    .command('import-key')
    .summary('print, renew or delete the key for imports by SSH')
    .description(
      'print the public key with which an install signs in to the old host of a website. The first call makes it. Add it to ' +
        '~/.ssh/authorized_keys there, and remove it after the import. A renewed or deleted key is gone, also for imports that wait',
    )
    .argument('<name>', 'the install')
    .option('--renew', 'replace the key by another one')
    .addOption(new Option('--delete', 'delete the key').conflicts(['renew', 'json']))
    .option('--json', 'print JSON: public_key, created_at')
    .addHelpText(
      'after',
      '\nExample:\n  homeport install import-key harbourcafe\n  homeport install import-key harbourcafe --delete',
    )
    .action(workOnImportKey);
}

async function workOnImportKey(
  name: string,
  { json, renew, delete: deletes }: { json?: boolean; renew?: boolean; delete?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (_platform, { importKeys }) => {
    if (deletes) {
      await importKeys.removeAsOperator(name).catch((error: unknown) => {
        if (!(error instanceof NotFound)) throw error;
        throw new OperatorError(`The install ${name} has no import key.`);
      });
      process.stdout.write(`Deleted the import key of ${name}. Remove it from the old host, too.\n`);
      return;
    }
    const key = await (renew ? importKeys.renewAsOperator(name) : importKeys.provideAsOperator(name));
    if (json) return printJson(key);
    process.stdout.write(`${key.public_key}\n`);
  });
}

async function importWebsite(
  name: string,
  given: string,
  { hostKey, site, yes, json }: { hostKey?: string; site?: string; yes?: boolean; json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const { readSourceArgument } = await import('../../features/backups/imports/source-argument.ts');
    const source = readSourceArgument(given, { hostKey, site });
    if (yes !== true) {
      await requireConsent(`Replace the present website of ${name} by an imported one?`, {
        effect: `This replaces the present website of ${name}.`,
        kept: 'Nothing was imported.',
      });
    }
    const { jobId, installId } = await services.imports.requestAsOperator(name, source);
    const title = `Importing a website into ${name}`;
    const ended = await waitForJob(jobId, { title, subject: `The import into ${name}` }, platform, services);
    if (ended === undefined) return;
    if (ended.state !== 'succeeded') {
      throw new OperatorError(
        ended.state === 'cancelled'
          ? `The import into ${name} was cancelled.`
          : `The import into ${name} failed: ${ended.error ?? 'the reason is unknown'}`,
      );
    }
    const leftOut = await services.imports.leftOutBy(jobId);
    if (json) {
      return printJson({
        job_id: jobId,
        install_id: installId,
        install_name: name,
        ...(leftOut === null ? {} : { left_out: leftOut }),
      });
    }
    process.stdout.write(`Imported a website into ${name}.\n`);
    if (leftOut !== null) process.stdout.write(`${printable(leftOut)}\n`);
  });
}
