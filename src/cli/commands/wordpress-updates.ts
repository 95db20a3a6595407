import { type Command, InvalidArgumentError } from 'commander';
import type { RequestedUpdates } from '../../features/updates/service.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printable, printJson } from '../terminal/output.ts';
import { waitForJob } from './wait-for-job.ts';

interface UpdateOptions {
  core?: true | string;
  plugins?: true | string[];
  themes?: true | string[];
  json?: boolean;
}

export function addUpdateCommand(install: Command): void {
  install
    .command('update')
    .summary('update WordPress, plugins and themes of an install')
    .description(
      'update WordPress, plugins and themes of an install, and wait for the result. A checkpoint is made first, and pages are checked ' +
        'before and after each update. If a page is worse or an update fails, the checkpoint is restored. A running server does the ' +
        'work, otherwise this command does',
    )
    .argument('<name>', 'the install')
    .option(
      '--core [version]',
      'WordPress itself: the newest version of the host, or this one',
      versionArgument,
    )
    .option('--plugins [plugin...]', 'all plugins, or these (akismet)')
    .option('--themes [theme...]', 'all themes, or these folders')
    .option('--json', 'print JSON when it is done: operation_id, install_id, install_name, updates')
    .addHelpText('after', '\nExample:\n  homeport install update harbourcafe --core --plugins akismet')
    .action(update);
}

function versionArgument(text: string): string {
  if (!/^\d{1,3}(\.\d{1,3}){1,2}$/.test(text)) throw new InvalidArgumentError('It must be like 6.8.7.');
  return text;
}

async function update(name: string, options: UpdateOptions, command: Command): Promise<void> {
  const { core, plugins, themes, json } = options;
  const wanted: RequestedUpdates = {
    core,
    plugins: plugins === true ? 'all' : plugins,
    themes: themes === true ? 'all' : themes,
  };
  await withPlatform(command, async (platform, services) => {
    const { jobId, installId } = await services.updates.byName(name, wanted);
    const ended = await waitForJob(
      jobId,
      { title: `Updating ${name}`, subject: `The update of ${name}` },
      platform,
      services,
    );
    if (ended === undefined) return;
    if (ended.state === 'cancelled') throw new OperatorError(`The update of ${name} was cancelled.`);
    if (ended.state !== 'succeeded') {
      throw new OperatorError(ended.error ?? `The update of ${name} failed for an unknown reason.`);
    }
    const made = (await services.updates.latest(installId))?.made ?? [];
    if (json) {
      return printJson({ operation_id: jobId, install_id: installId, install_name: name, updates: made });
    }
    process.stdout.write(
      made.length === 0
        ? `${name} is up to date.\n`
        : made.map((item) => `${printable(item.name)} ${item.from} → ${item.to}\n`).join(''),
    );
  });
}
