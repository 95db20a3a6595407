import { type Command, Option } from 'commander';
import type {
  RequestedChange,
  RequestedInstallation,
} from '../../features/updates/changes/requested-change.ts';
import type { ItemKind } from '../../hosting/contract/wordpress-changes.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printable, printJson, table } from '../terminal/output.ts';

const CHECKED =
  'A checkpoint is made first, and pages are checked before and after. If a page fails, the checkpoint is restored. A running ' +
  'server does the work, otherwise this command does';
const JSON_HELP =
  'print JSON when it is done: operation_id, install_id, install_name, id, name, version, warning';
const KEEP_HELP = 'keep the change if pages only look different, such as a maintenance page';

interface Options {
  keep?: boolean;
  json?: boolean;
}

/** Adds `install plugin` and `install theme`, which list and change the plugins and themes of an install. */
export function addItemCommands(install: Command): void {
  addCommands(install, 'plugin', 'akismet');
  addCommands(install, 'theme', 'twentytwentyfive');
}

function addCommands(install: Command, kind: ItemKind, example: string): void {
  const items = install.command(kind).description(`manage the ${kind}s of an install`);
  const change = (verb: string, past: string, status: NonNullable<RequestedChange['status']>) =>
    items
      .command(verb)
      .summary(`${verb} a ${kind}`)
      .description(`${verb} a ${kind} of an install, and wait for the result. ${CHECKED}`)
      .argument('<name>', 'the install')
      .argument(`<${kind}>`, `${kind === 'plugin' ? 'its file or folder' : 'its folder'}, such as ${example}`)
      .option('--keep', KEEP_HELP)
      .option('--json', JSON_HELP)
      .addHelpText('after', `\nExample:\n  homeport install ${kind} ${verb} harbourcafe ${example}`)
      .action((name: string, id: string, { keep = false, ...options }: Options, command: Command) =>
        run(name, { kind, id, status, keep }, past, options, command),
      );

  items
    .command('list')
    .description(`list the ${kind}s of an install, as its host last read them`)
    .argument('<name>', 'the install')
    .option('--json', 'print JSON: as in the API')
    .addHelpText('after', `\nExample:\n  homeport install ${kind} list harbourcafe`)
    .action((name: string, options: { json?: boolean }, command: Command) =>
      list(name, kind, options, command),
    );
  items
    .command('add')
    .summary(`install a ${kind} from wordpress.org or a ZIP file`)
    .description(
      `install a ${kind} from wordpress.org by its slug, from a ZIP file in the folder private of the install, or from an https URL. ` +
        CHECKED,
    )
    .argument('<name>', 'the install')
    .argument('<source>', `${example}, private/${example}.zip or https://example.com/${example}.zip`)
    .option('--activate', 'activate it, too')
    .option('--keep', KEEP_HELP)
    .option('--json', JSON_HELP)
    .addHelpText('after', `\nExample:\n  homeport install ${kind} add harbourcafe ${example} --activate`)
    .action(
      (
        name: string,
        source: string,
        { activate = false, keep = false, ...options }: Options & { activate?: boolean },
        command: Command,
      ) => run(name, { kind, ...sourceOf(source), activate, keep }, 'is installed', options, command),
    );
  change('activate', 'is active', 'active');
  if (kind === 'plugin') change('deactivate', 'is inactive', 'inactive');
  change('delete', 'is deleted', 'deleted');
  items
    .command('auto-update')
    .summary(`switch the automatic updates of a ${kind} by WordPress`)
    .description(`switch whether WordPress itself updates a ${kind}, and wait for the result`)
    .argument('<name>', 'the install')
    .argument(`<${kind}>`, `such as ${example}`)
    .addOption(new Option('--off', 'switch them off'))
    .option('--json', JSON_HELP)
    .addHelpText('after', `\nExample:\n  homeport install ${kind} auto-update harbourcafe ${example} --off`)
    .action(
      (
        name: string,
        id: string,
        { off = false, json }: { off?: boolean; json?: boolean },
        command: Command,
      ) =>
        run(
          name,
          { kind, id, auto_update: !off },
          off ? 'is not updated automatically' : 'is updated automatically',
          json ? { json } : {},
          command,
        ),
    );
}

function sourceOf(source: string): Pick<RequestedInstallation, 'slug' | 'path' | 'url'> {
  if (source.includes('://')) return { url: source };
  return source.includes('/') ? { path: source } : { slug: source };
}

async function list(
  name: string,
  kind: ItemKind,
  { json }: { json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (_platform, services) => {
    const { presentWordPress } = await import('../../features/websites/wordpress/present.ts');
    const { plugins, themes, error } = presentWordPress(await services.wordpress.byName(name));
    if (plugins === null || themes === null) {
      throw new OperatorError(
        `The WordPress of ${name} has not been read yet${error === null ? '' : `: ${error}`}`,
      );
    }
    if (json) return printJson(kind === 'plugin' ? plugins : themes);
    const items =
      kind === 'plugin'
        ? plugins.map((plugin) => ({ ...plugin, id: plugin.file }))
        : themes.map((theme) => ({ ...theme, id: theme.stylesheet }));
    process.stdout.write(
      table(
        [kind.toUpperCase(), 'VERSION', 'STATUS', 'UPDATE', 'AUTO-UPDATE'],
        items.map(({ id, version, status, update, auto_update }) => [
          id,
          version ?? '-',
          status,
          update?.version ?? '-',
          auto_update ? 'yes' : 'no',
        ]),
      ),
    );
  });
}

async function run(
  name: string,
  wanted: RequestedChange | RequestedInstallation,
  past: string,
  { json }: { json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const { jobId, installId } =
      'id' in wanted
        ? await services.itemChanges.changeByName(name, wanted)
        : await services.itemChanges.installByName(name, wanted);
    const what = `the ${wanted.kind} of ${name}`;
    const ended = await waitForJob(
      jobId,
      { title: `Changing ${what}`, subject: `The change of ${what}` },
      platform,
      services,
    );
    if (ended === undefined) return;
    if (ended.state === 'cancelled') throw new OperatorError(`The change of ${what} was cancelled.`);
    if (ended.state !== 'succeeded') {
      throw new OperatorError(ended.error ?? `The change of ${what} failed for an unknown reason.`);
    }
    const result = await services.itemChanges.resultOf(jobId);
    if (json) {
      return printJson({ operation_id: jobId, install_id: installId, install_name: name, ...result });
    }
    const { name: title = '', version } = result;
    process.stdout.write(`${printable(`${title}${version === undefined ? '' : ` ${version}`}`)} ${past}.\n`);
  });
}
