import { type Command, InvalidArgumentError } from 'commander';
import type { presentWordPress } from '../../features/websites/wordpress/present.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printable, printJson, table } from '../terminal/output.ts';

type WordPress = ReturnType<typeof presentWordPress>;

/** Adds `install wordpress`, which shows the WordPress of an install or switches its version. */
export function addInstallWordPressCommand(install: Command): void {
  install
    .command('wordpress')
    .alias('core')
    .summary('show the WordPress of an install, or switch its version')
    .description(
      'show the version, plugins, themes, administrators and Site Health of the WordPress of an install, as its host last read ' +
        'them. With a version, switch the install to another WordPress version of its host ("homeport host list"), newer or ' +
        'older, and wait for the result. A running server does the work, otherwise this command does. If a switch fails, the ' +
        'install keeps its version',
    )
    .argument('<name>', 'the install')
    .argument('[version]', 'switch to this version, such as 6.8.7', versionArgument)
    .option('--refresh', 'read the website again first, and let WordPress ask for updates')
    .option('--force', 'switch it also if its users have deferred upgrades')
    .option(
      '--json',
      'print JSON: the WordPress as in the API; after a switch job_id, install_id, install_name, from, to',
    )
    .addHelpText(
      'after',
      '\nExample:\n  homeport install wordpress harbourcafe\n  homeport install wordpress harbourcafe 6.8.7',
    )
    .action(
      (
        name: string,
        version: string | undefined,
        options: { refresh?: boolean; force?: boolean; json?: boolean },
        command: Command,
      ) =>
        version === undefined ? show(name, options, command) : switchCore(name, version, options, command),
    );
}

function versionArgument(text: string): string {
  if (!/^\d{1,3}(\.\d{1,3}){1,2}$/.test(text)) throw new InvalidArgumentError('It must be like 6.8.7.');
  return text;
}

async function show(
  name: string,
  { refresh, json }: { refresh?: boolean; json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    if (refresh) {
      const { jobId } = await services.wordpress.refreshByName(name);
      const title = `Reading the WordPress of ${name}`;
      const ended = await waitForJob(jobId, { title, subject: `The reading of ${name}` }, platform, services);
      if (ended === undefined) return;
      if (ended.state !== 'succeeded') {
        throw new OperatorError(
          `The WordPress of ${name} could not be read: ${ended.error ?? 'the install was deleted'}`,
        );
      }
    }
    const { presentWordPress } = await import('../../features/websites/wordpress/present.ts');
    const wordpress = presentWordPress(await services.wordpress.byName(name));
    if (json) return printJson(wordpress);
    process.stdout.write(written(name, wordpress));
  });
}

/** The WordPress of an install as tables. */
function written(name: string, wordpress: WordPress): string {
  const { core, plugins, themes, administrators, read_at, error, updates_error } = wordpress;
  const update = core?.available_update ?? null;
  const lines = [
    `${name}: WordPress ${printable(core?.version ?? 'of unknown version')}` +
      `${update === null ? '' : `, update to ${printable(update.version)} available`}`,
    `Site Health: ${healthOf(wordpress)}`,
    read_at === null ? 'Not read yet.' : `Read at ${read_at}.`,
    ...(error === null
      ? []
      : [`${read_at === null ? 'Reason' : 'Last attempt failed'}: ${printable(error)}`]),
    ...(updates_error === null ? [] : [printable(updates_error)]),
  ];
  if (plugins === null || themes === null || administrators === null) return `${lines.join('\n')}\n`;
  const tables = [
    table(
      ['PLUGIN', 'VERSION', 'STATUS', 'UPDATE', 'AUTO-UPDATE'],
      plugins.map((one) => [one.file, one.version ?? '-', one.status, ...updateCells(one)]),
    ),
    table(
      ['THEME', 'VERSION', 'STATUS', 'UPDATE', 'AUTO-UPDATE'],
      themes.map((one) => [one.stylesheet, one.version ?? '-', one.status, ...updateCells(one)]),
    ),
    table(
      ['ADMINISTRATOR', 'EMAIL', 'NAME', 'REGISTERED'],
      administrators.map((one) => [
        one.login,
        one.email ?? '-',
        one.display_name,
        one.registered_at?.slice(0, 10) ?? '-',
      ]),
    ),
  ];
  return `${lines.join('\n')}\n\n${tables.join('\n')}`;
}

type Item = Pick<NonNullable<WordPress['plugins']>[number], 'update' | 'auto_update'>;

function updateCells({ update, auto_update }: Item) {
  return [update?.version ?? '-', auto_update ? 'yes' : 'no'];
}

function healthOf({ site_health: { status, recommended, critical } }: WordPress): string {
  if (status === 'unknown') return 'unknown';
  const word = status === 'good' ? 'good' : 'should be improved';
  return `${word} (${critical} critical, ${recommended} recommended)`;
}

async function switchCore(
  name: string,
  version: string,
  { json, force }: { json?: boolean; force?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const { jobId, installId, from } = await services.installs.switchWordpress(name, version, force);
    const ended = await waitForJob(
      jobId,
      { title: `Switching ${name} to WordPress ${version}`, subject: `The switch of ${name}` },
      platform,
      services,
    );
    if (ended === undefined) return;
    if (ended.state !== 'succeeded') {
      throw new OperatorError(
        ended.state === 'cancelled'
          ? `The switch of ${name} was cancelled: the install was deleted.`
          : `The switch of ${name} failed, and it stays on its version: ${ended.error ?? 'the reason is unknown'}`,
      );
    }
    if (json) {
      return printJson({ job_id: jobId, install_id: installId, install_name: name, from, to: version });
    }
    process.stdout.write(
      `${name} runs on WordPress ${version}${from === null ? '' : ` (before: ${from})`}.\n`,
    );
  });
}
