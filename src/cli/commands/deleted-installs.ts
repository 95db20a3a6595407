import { type Command, InvalidArgumentError } from 'commander';
import { parseUuid } from '../../lib/ids.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printable, printJson, shownTime, table } from '../terminal/output.ts';

/** Adds `install deleted` and `install restore-deleted`. */
export function addDeletedInstalls(install: Command): void {
  install
    .command('deleted')
    .description('list deleted installs that can be restored, the latest first')
    .option(
      '--json',
      'print JSON: an array of id, name, account_id, state, reason, backups, deleted_at, expires_at',
    )
    .addHelpText('after', '\nExample:\n  homeport install deleted')
    .action(listDeleted);

  install
    .command('restore-deleted')
    .summary('restore a deleted install')
    .description(
      'create a deleted install again under its name, restore its last backup, and wait for the result. Its name must be free. A ' +
        'running server does the work, otherwise this command does',
    )
    .argument('<name>', 'the name of the deleted install')
    .option('--id <id>', 'which one, if several had this name', idArgument)
    .option('--json', 'print JSON when it is done: job_id, install_id, install_name, withheld_domains')
    .addHelpText('after', '\nExample:\n  homeport install restore-deleted harbourcafe')
    .action(restoreDeleted);
}

function idArgument(text: string): string {
  const id = parseUuid(text);
  if (id === null || id === undefined) throw new InvalidArgumentError('It must be the id of an install.');
  return id;
}

async function listDeleted({ json }: { json?: boolean }, command: Command): Promise<void> {
  await withPlatform(command, async (_platform, { deletedInstalls }) => {
    const all = (await deletedInstalls.listAll()).map(({ kept, ...one }) => ({
      ...{ id: one.id, name: one.name, account_id: one.account_id, state: one.state, reason: one.reason },
      ...{ backups: kept.backups.length, deleted_at: one.deleted_at, expires_at: one.expires_at },
    }));
    if (json) return printJson(all);
    process.stdout.write(
      all.length === 0
        ? 'There are no deleted installs to restore.\n'
        : table(
            ['ID', 'NAME', 'STATE', 'BACKUPS', 'DELETED', 'KEPT UNTIL'],
            all.map(({ id, name, state, backups, deleted_at, expires_at }) => [
              ...[id, name, state, String(backups)],
              ...[shownTime(deleted_at, '-'), shownTime(expires_at, '-')],
            ]),
          ),
    );
  });
}

async function restoreDeleted(
  name: string,
  { id, json }: { id?: string; json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const { jobId, installId, withheld } = await services.deletedInstalls.restoreByName(name, id ?? null);
    const title = `Restoring ${name}`;
    const ended = await waitForJob(jobId, { title, subject: `The restore of ${name}` }, platform, services);
    if (ended === undefined) return;
    if (ended.state !== 'succeeded') {
      throw new OperatorError(
        `${name} could not be restored: ${ended.error ?? 'the install was deleted meanwhile'}`,
      );
    }
    if (json)
      return printJson({
        job_id: jobId,
        install_id: installId,
        install_name: name,
        withheld_domains: withheld,
      });
    const missing =
      withheld.length === 0
        ? ''
        : ` It does not serve ${withheld.join(', ')}: see its domains for the reason.`;
    process.stdout.write(`${printable(name)} is restored.${missing}\n`);
  });
}
