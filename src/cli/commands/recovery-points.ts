import type { Command } from 'commander';
import { OperatorError } from '../../lib/operator-error.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { requireConsent } from '../terminal/confirm.ts';
import { printJson, shownBytes, shownTime, table } from '../terminal/output.ts';

interface Options {
  point?: string;
  yes?: boolean;
  json?: boolean;
}

/** Adds `backup points` and `backup recover`. */
export function addRecoveryPointCommands(backup: Command): void {
  backup
    .command('points')
    .summary('list the recovery points of an install')
    .description(
      'list the recovery points of an install, newest first, and until when its changes are saved. HOMEPORT_RECOVERY_POINT_MINUTES ' +
        'turns them on. They are deleted after a few hours, and hosts make none while nothing changes',
    )
    .argument('<name>', 'the install')
    .option('--json', 'print JSON: install_id, covered_at, reason, points (an array of id, taken_at, bytes)')
    .addHelpText('after', '\nExample:\n  homeport backup points harbourcafe')
    .action(list);
  backup
    .command('recover')
    .summary('restore an install from its newest recovery point')
    .description(
      'restore the files and the database of an install from its newest recovery point, and wait for the result. What changed since then is ' +
        'lost. The recovery point is verified before the install is changed',
    )
    .argument('<name>', 'the install')
    .option('--point <id>', 'an earlier recovery point ("homeport backup points")')
    .option('--yes', 'replace the current website without asking')
    .option('--json', 'print JSON when it is done: job_id, install_name, taken_at, state')
    .addHelpText('after', '\nExample:\n  homeport backup recover harbourcafe')
    .action(recover);
}

async function list(name: string, { json }: Options, command: Command): Promise<void> {
  await withPlatform(command, async (_platform, { recoveryPoints }) => {
    const { install, points, covered_at, reason } = await recoveryPoints.list(name);
    if (json) return printJson({ install_id: install.id, covered_at, reason, points });
    if (reason !== null) process.stdout.write(`The last recovery point failed: ${reason}\n`);
    if (points.length === 0) {
      process.stdout.write(`The install "${name}" has no recovery points.\n`);
      return;
    }
    const rows = points.map(({ id, taken_at, bytes }) => [id, shownTime(taken_at, '-'), shownBytes(bytes)]);
    process.stdout.write(
      `${table(['ID', 'MADE', 'SIZE'], rows)}\nChanges until ${shownTime(covered_at, 'an unknown time')} are saved.\n`,
    );
  });
}

async function recover(name: string, { point, yes, json }: Options, command: Command): Promise<void> {
  await withPlatform(command, async (platform, services) => {
    const { points } = await services.recoveryPoints.list(name);
    const chosen = point === undefined ? points[0] : points.find(({ id }) => id === point.toLowerCase());
    if (yes !== true && chosen !== undefined) {
      await requireConsent(
        `Replace the present website of ${name} by its recovery point of ${shownTime(chosen.taken_at, 'unknown age')}?`,
        { effect: `This replaces the present website of ${name}.`, kept: 'Nothing was restored.' },
      );
    }
    // The one that was asked about, although a newer one may have been made meanwhile.
    const { jobId, taken_at } = await services.recoveryPoints.requestRestore(name, point ?? chosen?.id);
    const shown = { title: `Restoring ${name}`, subject: `The restore of ${name}` };
    const ended = await waitForJob(jobId, shown, platform, services);
    if (ended === undefined) return;
    if (ended.state === 'cancelled') throw new OperatorError(`The restore of ${name} was cancelled.`);
    if (ended.state !== 'succeeded')
      throw new OperatorError(`The restore of ${name} failed: ${ended.error ?? 'the reason is unknown'}`);
    if (json) return printJson({ job_id: jobId, install_name: name, taken_at, state: ended.state });
    process.stdout.write(
      `Restored ${name} to its recovery point of ${shownTime(taken_at, 'unknown age')}.\n`,
    );
  });
}
