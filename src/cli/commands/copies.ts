import type { Command } from 'commander';
import type { ReplacedParts } from '../../features/backups/replaced-parts.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { collect } from '../terminal/arguments.ts';
import { requireConsent } from '../terminal/confirm.ts';
import { printJson } from '../terminal/output.ts';

const DONE_BY = 'A running server does the work, otherwise this command does';

interface ChosenParts {
  files?: boolean;
  database?: boolean;
  table?: string[];
}

/** Adds `install stage`, `install push` and `install copy`, which copy websites between installs. */
export function addCopyCommands(install: Command): void {
  install
    .command('stage')
    .summary('make a staging copy of an install')
    .description(
      'create an install in the staging environment of the same site, copy the files and the database into it, and wait for the ' +
        `result. ${DONE_BY}`,
    )
    .argument('<name>', 'the install to copy')
    .argument('<new-name>', 'the name of the new install')
    .option('--json', 'print JSON when it is done: job_id, install_id, install_name, source_name')
    .addHelpText('after', '\nExample:\n  homeport install stage harbourcafe harbourcafe-next')
    .action(stage);

  withParts(
    install
      .command('push')
      .summary('replace the production install by a staging install')
      .description(
        'replace the files, the database or some tables of the production install of the same site, and wait for the result. The ' +
          'replaced install keeps its name and domains. A checkpoint of it is made first, and put back if the copy fails. Choose ' +
          `what is replaced. ${DONE_BY}`,
      )
      .argument('<name>', 'the install to push')
      .option('--to <install>', 'replace this install of the account instead: its name'),
  )
    .addHelpText(
      'after',
      '\nExample:\n  homeport install push harbourcafe-next --files --table wp_options --yes',
    )
    .action(push);

  withParts(
    install
      .command('copy')
      .summary('copy an install into another one')
      .description(
        'replace the website of an install by that of another one of the account, and wait for the result. Copies the files and the ' +
          'database unless you choose. The replaced install keeps its name and domains. A checkpoint of it is made first, and put ' +
          `back if the copy fails. ${DONE_BY}`,
      )
      .argument('<name>', 'the install to copy: its name or id')
      .argument('<into>', 'the install to replace: its name or id')
      .option('--no-checkpoint', 'make no checkpoint, for a website that is too damaged for a backup'),
  )
    .addHelpText('after', '\nExample:\n  homeport install copy harbourcafe harbourtest --files')
    .action(copy);
}

function withParts(command: Command): Command {
  return command
    .option('--files', 'replace the files')
    .option('--database', 'replace the database')
    .option('--table <table>', 'replace only this table of the database; can be repeated', collect)
    .option('--yes', 'replace the current website without asking')
    .option(
      '--json',
      'print JSON when it is done: job_id, install_id and install_name (which was replaced), source_name',
    );
}

async function stage(
  name: string,
  newName: string,
  { json }: { json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const { INSTALL_NAME_PATTERN } = await import('../../features/websites/installs/schema.ts');
    if (!new RegExp(INSTALL_NAME_PATTERN).test(newName)) {
      throw new OperatorError(
        `"${newName}" cannot be the name of an install. Choose lower-case letters, digits and hyphens.`,
      );
    }
    const { id, jobId } = await services.staging.createAsOperator(name, newName);
    const title = `Copying ${name} into ${newName}`;
    const ended = await waitForJob(jobId, { title, subject: `The copy of ${name}` }, platform, services);
    if (ended === undefined) return;
    requireSuccess(ended, `The copy of ${name} into ${newName}`);
    if (json) return printJson({ job_id: jobId, install_id: id, install_name: newName, source_name: name });
    process.stdout.write(`${newName} is a staging copy of ${name}.\n`);
  });
}

async function push(
  name: string,
  { to, yes, json, ...chosen }: ChosenParts & { to?: string; yes?: boolean; json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const parts = readParts(chosen);
    if (!parts.files && !parts.database) {
      throw new OperatorError('Choose what is replaced: --files, --database, both, or --table.');
    }
    const target = await services.staging.targetOf(name, to);
    if (yes !== true) await askToReplace(target.name, name, parts);
    const { jobId } = await services.staging.pushAsOperator(name, target.name, parts);
    const title = `Pushing ${name} to ${target.name}`;
    const ended = await waitForJob(jobId, { title, subject: `The push of ${name}` }, platform, services);
    if (ended === undefined) return;
    requireSuccess(ended, `The push of ${name} to ${target.name}`);
    if (json) return printReplaced(jobId, target, name);
    process.stdout.write(`Pushed ${shown(parts)} of ${name} to ${target.name}.\n`);
  });
}

async function copy(
  name: string,
  into: string,
  { checkpoint, yes, json, ...chosen }: ChosenParts & { checkpoint: boolean; yes?: boolean; json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const read = readParts(chosen);
    const parts = read.files || read.database ? read : { ...read, files: true, database: true };
    if (yes !== true) await askToReplace(into, name, parts);
    const { jobId, source, target } = await services.backups.copyAsOperator(name, {
      into,
      parts,
      checkpoint,
    });
    const title = `Copying ${source.name} into ${target.name}`;
    const subject = `The copy of ${source.name} into ${target.name}`;
    const ended = await waitForJob(jobId, { title, subject }, platform, services);
    if (ended === undefined) return;
    requireSuccess(ended, subject);
    if (json) return printReplaced(jobId, target, source.name);
    process.stdout.write(`Copied ${shown(parts)} of ${source.name} into ${target.name}.\n`);
  });
}

function readParts({ files = false, database = false, table }: ChosenParts): ReplacedParts {
  return {
    files,
    database: database || table !== undefined,
    tables: table === undefined ? null : [...new Set(table)],
  };
}

function shown({ files, database, tables }: ReplacedParts): string {
  if (!database) return 'the files';
  const ofDatabase = tables === null ? 'the database' : `${tables.length} of the tables`;
  return files ? `the files and ${ofDatabase}` : ofDatabase;
}

async function askToReplace(target: string, source: string, parts: ReplacedParts): Promise<void> {
  await requireConsent(`Replace ${shown(parts)} of ${target} by those of ${source}?`, {
    effect: `This replaces ${shown(parts)} of ${target}.`,
    kept: 'Nothing was copied.',
  });
}

function requireSuccess({ state, error }: { state: string; error: string | null }, subject: string): void {
  if (state === 'succeeded') return;
  throw new OperatorError(
    state === 'cancelled'
      ? `${subject} was cancelled.`
      : `${subject} failed: ${error ?? 'the reason is unknown'}`,
  );
}

function printReplaced(jobId: string, target: { id: string; name: string }, sourceName: string): void {
  printJson({ job_id: jobId, install_id: target.id, install_name: target.name, source_name: sourceName });
}
