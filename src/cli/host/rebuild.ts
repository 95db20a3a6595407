import type { Command } from 'commander';
import type { RebuildView } from '../../features/provisioning/lost-hosts/rebuild-service.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { waitForJob } from '../platform/wait-for-job.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { printable, printJson, shownTime, table } from '../terminal/output.ts';

interface Options {
  to?: string;
  report?: boolean;
  json?: boolean;
}

/** Adds `host rebuild`, which makes the installs of a lost host again on others. */
export function addHostRebuild(host: Command): void {
  host
    .command('rebuild')
    .summary('make the installs of a lost host again on others')
    .description(
      'make the installs of a host that was given up again on other hosts, each from its newest backup that the other host reaches, the most visited first, and ' +
        'wait for the results. They keep their names, domains, certificates, settings and backups. If the command is interrupted, the rebuild goes on. Run it ' +
        'again to see the rest, and to try again what failed',
    )
    .argument('<name>', 'the lost host')
    .option('--to <hosts>', 'only to these hosts, separated by commas')
    .option('--report', 'change nothing, and show what became of each install')
    .option(
      '--json',
      'print JSON: an array of install_id, install_name, step (placing, restoring, rebuilt, failed), host, backup_id, backup_at, minutes_lost, changes_lost, reason',
    )
    .addHelpText('after', '\nExample:\n  homeport host rebuild web2')
    .action(async (name: string, { to, report: isReport, json }: Options, command: Command) => {
      await withPlatform(command, async (platform, services) => {
        const { rebuilds } = services;
        if (!isReport) {
          await rebuilds.request(
            name,
            (to ?? '')
              .split(',')
              .map((one) => one.trim())
              .filter((one) => one !== ''),
          );
          const all = await rebuilds.report(name);
          for (const [index, rebuild] of all.entries()) {
            if (rebuild.step === 'rebuilt' || rebuild.step === 'failed') continue;
            const title = `Rebuilding ${rebuild.name} (${index + 1} of ${all.length})`;
            const shown = { title, subject: `The rebuild of ${rebuild.name}` };
            if ((await waitForJob(rebuild.jobId, shown, platform, services)) === undefined) return;
          }
        }
        const all = await rebuilds.report(name);
        if (json) printJson(all.map(asJson));
        else
          process.stdout.write(
            all.length === 0 ? `No install of ${name} was rebuilt.\n` : tableOf(all, name),
          );
        const failed = all.filter(({ step }) => step === 'failed');
        if (failed.length > 0 && !isReport) {
          throw new OperatorError(
            `Not rebuilt: ${failed.map((one) => one.name).join(', ')}. The table says why.`,
          );
        }
      });
    });
}

const STEPS: Record<RebuildView['step'], string> = {
  placing: 'waits',
  restoring: 'is restored',
  rebuilt: 'rebuilt',
  failed: 'failed',
};

const tableOf = (all: readonly RebuildView[], lost: string): string =>
  table(
    ['INSTALL', 'STATE', 'HOST', 'BACKUP OF', 'LOST', 'CHANGES SINCE', 'REASON'],
    all.map(({ name, step, host, backupAt, minutesLost, changesLost, reason }) => [
      name,
      STEPS[step],
      host ?? lost,
      shownTime(backupAt, '-'),
      minutesLost === null ? '-' : `${minutesLost} min`,
      changesLost.join(' ') || '-',
      reason === null ? '-' : printable(reason),
    ]),
  );

const asJson = (view: RebuildView) => ({
  ...{ install_id: view.installId, install_name: view.name, step: view.step, host: view.host },
  ...{ backup_id: view.backupId, backup_at: view.backupAt, minutes_lost: view.minutesLost },
  ...{ changes_lost: view.changesLost, reason: view.reason },
});
