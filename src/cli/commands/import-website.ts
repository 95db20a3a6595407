import type { Command } from 'commander';
import { OperatorError } from '../../lib/operator-error.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { requireConsent } from '../terminal/confirm.ts';
import { printJson } from '../terminal/output.ts';
import { waitForJob } from './wait-for-job.ts';

export function addImportCommand(install: Command): void {
  install
    .command('import')
    .summary('import an existing website into an install')
    .description(
      'replace the website of an install by an existing one from an archive, and wait for the result. A backup is made first, and put ' +
        'back if the imported website does not answer. A running server does the work, otherwise this command does',
    )
    .argument('<name>', 'the install')
    .argument(
      '<archive>',
      'the path of the archive below the folder of the install, such as private/website.zip, or a URL with https',
    )
    .option('--yes', 'replace the current website without asking')
    .option('--json', 'print JSON when it is done: job_id, install_id, install_name')
    .addHelpText('after', '\nExample:\n  homeport install import harbourcafe private/website.zip --yes')
    .action(importWebsite);
}

async function importWebsite(
  name: string,
  archive: string,
  { yes, json }: { yes?: boolean; json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const { readSource } = await import('../../features/backups/imports/service.ts');
    const source = readSource(
      archive.startsWith('https://') ? { source: 'url', url: archive } : { source: 'file', path: archive },
    );
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
    if (json) return printJson({ job_id: jobId, install_id: installId, install_name: name });
    process.stdout.write(`Imported a website into ${name}.\n`);
  });
}
