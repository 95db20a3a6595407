import { type Command, InvalidArgumentError, Option } from 'commander';
import {
  CORE_POLICIES,
  type CorePolicy,
  ITEM_POLICIES,
  type ItemPolicy,
} from '../../features/updates/policy.ts';
import type { RequestedUpdates } from '../../features/updates/service.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printable, printJson, table } from '../terminal/output.ts';

interface UpdateOptions {
  core?: true | string;
  plugins?: true | string[];
  themes?: true | string[];
  keep?: boolean;
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
    .option('--keep', 'keep the updates if pages only look different, such as with a new layout')
    .option('--json', 'print JSON when it is done: operation_id, install_id, install_name, updates, warning')
    .addHelpText('after', '\nExample:\n  homeport install update harbourcafe --core --plugins akismet')
    .action(update);
}

interface PolicyOptions {
  core?: CorePolicy;
  plugins?: ItemPolicy;
  themes?: ItemPolicy;
  json?: boolean;
}

export function addPolicyCommand(install: Command): void {
  const items = (what: string) =>
    new Option(`--${what} <how often>`, `updates of ${what}`).choices(ITEM_POLICIES);
  install
    .command('update-policy')
    .summary('show or change the automatic updates of an install')
    .description(
      'show the automatic updates of an install, or change those that are given. Users of the account change them in the portal, with ' +
        'a maintenance window and pages to check',
    )
    .argument('<name>', 'the install')
    .addOption(new Option('--core <releases>', 'releases of WordPress').choices(CORE_POLICIES))
    .addOption(items('plugins'))
    .addOption(items('themes'))
    .option('--json', 'print JSON: core, plugins, themes, window (days, from_hour, hours, time_zone), pages')
    .addHelpText('after', '\nExample:\n  homeport install update-policy harbourcafe --plugins weekly')
    .action(changePolicy);
}

async function changePolicy(
  name: string,
  { json, ...change }: PolicyOptions,
  command: Command,
): Promise<void> {
  await withPlatform(command, async (_platform, { updatePolicies }) => {
    const policy = await updatePolicies.byName(name, change);
    if (json) return printJson(policy);
    const { core, plugins, themes, window, pages } = policy;
    const hours = window && `${window.hours} h from ${window.from_hour}:00 ${window.time_zone}`;
    process.stdout.write(
      table(
        ['SETTING', 'VALUE'],
        [
          ['WordPress', core],
          ['plugins', plugins],
          ['themes', themes],
          ['maintenance window', window === null ? 'at any time' : `${window.days.join(', ')}, ${hours}`],
          ['pages to check', pages.join(' ') || '-'],
        ],
      ),
    );
  });
}

function versionArgument(text: string): string {
  if (!/^\d{1,3}(\.\d{1,3}){1,2}$/.test(text)) throw new InvalidArgumentError('It must be like 6.8.7.');
  return text;
}

async function update(name: string, options: UpdateOptions, command: Command): Promise<void> {
  const { core, plugins, themes, keep, json } = options;
  const wanted: RequestedUpdates = {
    core,
    plugins: plugins === true ? 'all' : plugins,
    themes: themes === true ? 'all' : themes,
    keep,
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
    const { warning } = await services.itemChanges.resultOf(jobId);
    if (json) {
      return printJson({
        ...{ operation_id: jobId, install_id: installId, install_name: name, updates: made },
        ...(warning === undefined ? {} : { warning }),
      });
    }
    process.stdout.write(
      made.length === 0
        ? `${name} is up to date.\n`
        : made.map((item) => `${printable(item.name)} ${item.from} → ${item.to}\n`).join(''),
    );
  });
}
