import type { Command } from 'commander';
import type { SetAsideJob } from '../../jobs/set-aside.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { idArgument } from '../terminal/arguments.ts';
import { printable, printJson, shownTime, table } from '../terminal/output.ts';

/** Adds the commands for jobs that are set aside. */
export function addJobCommands(program: Command): void {
  const job = program
    .command('job')
    .description('see and decide about jobs that are set aside because the server died each time they ran');

  job
    .command('list')
    .summary('list the jobs that are set aside')
    .description(
      'list the jobs that are set aside, latest first. The server died each time they ran, for example by a signal or for want of memory. ' +
        'They are not tried again, and the same work is refused for 6 hours',
    )
    .option('--json', 'print JSON: an array of id, kind, install, set_aside_at, error, is_repeatable')
    .addHelpText('after', '\nExample:\n  homeport job list')
    .action(list);

  job
    .command('retry')
    .summary('run a job again that is set aside')
    .description(
      'run a job again that is set aside, after its cause was fixed. It runs alone at first. If the server dies once more, it is set ' +
        'aside again. Jobs whose effects were undone cannot run again; their work must be requested again',
    )
    .argument('<job-id>', 'the job ("homeport job list")', idArgument)
    .addHelpText('after', '\nExample:\n  homeport job retry 1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11')
    .action(retry);

  job
    .command('drop')
    .summary('take a job off the list of those set aside')
    .description(
      'take a job off the list of those that are set aside. It does not run again. If the same work is requested again, it is tried at once',
    )
    .argument('<job-id>', 'the job ("homeport job list")', idArgument)
    .addHelpText('after', '\nExample:\n  homeport job drop 1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11')
    .action(drop);
}

async function list({ json }: { json?: boolean }, command: Command): Promise<void> {
  await withPlatform(command, async ({ database }) => {
    const { listSetAside } = await import('../../jobs/set-aside.ts');
    const jobs = await listSetAside(database.reader);
    if (json) return printJson(jobs);
    process.stdout.write(
      jobs.length === 0
        ? 'No job is set aside.\n'
        : table(
            ['ID', 'KIND', 'INSTALL', 'SINCE', 'CAN RUN AGAIN', 'ERROR'],
            jobs.map(({ id, kind, install, set_aside_at, is_repeatable, error }) => [
              id,
              kind,
              printable(install ?? '-'),
              shownTime(set_aside_at, '-'),
              is_repeatable ? 'yes' : 'no',
              printable(error ?? '-'),
            ]),
          ),
    );
  });
}

async function retry(id: string, _options: object, command: Command): Promise<void> {
  await withPlatform(command, async ({ database, clock }) => {
    const { retrySetAside } = await import('../../jobs/set-aside.ts');
    const job = await database.write((transaction) =>
      retrySetAside(transaction, id, clock.now().toISOString()),
    );
    process.stdout.write(`${nameOf(job)} is queued again (job ${id}).\n`);
  });
}

async function drop(id: string, _options: object, command: Command): Promise<void> {
  await withPlatform(command, async ({ database }) => {
    const { dropSetAside } = await import('../../jobs/set-aside.ts');
    const job = await database.write((transaction) => dropSetAside(transaction, id));
    process.stdout.write(`${nameOf(job)} is off the list (job ${id}).\n`);
  });
}

function nameOf({ kind, install }: SetAsideJob): string {
  return install === null ? kind : `${kind} of ${printable(install)}`;
}
