import type { Command } from 'commander';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Platform } from '../../platform/platform.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { requireConsent } from '../terminal/confirm.ts';

/** Adds the command for a lost websites folder with an intact database. */
export function addHostTakeOver(host: Command): void {
  host
    .command('take-over')
    .summary('serve the websites from this data folder, in place of a lost one')
    .description(
      'serve the websites from this data folder, in place of a lost one (HOMEPORT_HOST=embedded on PostgreSQL). A moved or restored ' +
        'folder does not need it. Files and backups are not copied; "homeport backup restore" brings ' +
        'missing websites back',
    )
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  homeport host take-over')
    .action(takeOver);
}

async function takeOver({ yes = false }: { yes?: boolean }, command: Command): Promise<void> {
  await withPlatform(command, async (platform) => {
    const { config } = platform;
    if (config.host !== 'embedded' || config.databaseUrl === null) {
      throw new OperatorError(
        'There is nothing to take over: this is for HOMEPORT_HOST=embedded on PostgreSQL.',
      );
    }
    await requireNoServer(platform);
    if (!yes) {
      await requireConsent(`Serve the websites from ${config.dataDir} only?`, {
        effect: `The websites are then served from ${config.dataDir} only.`,
        kept: 'Nothing was changed.',
      });
    }
    const { replacedWebsitesFolder } = await import('../../app/embedded-websites.ts');
    const { takeOverWebsites } = await import('../../features/hosts/websites-folder.ts');
    const here = await replacedWebsitesFolder(platform);
    const before = await takeOverWebsites(platform, here);
    const elsewhere = before !== null && (before.path !== here.path || before.machine !== here.machine);
    process.stdout.write(
      `The websites are served from ${config.dataDir}${elsewhere ? `, no longer from ${before.path} on ${before.machine}` : ''}.\n`,
    );
  });
}

/** A running server would continue with the other folder. */
async function requireNoServer({ database, clock }: Platform): Promise<void> {
  const { presentWorkers } = await import('../platform/present-workers.ts');
  const [worker] = await presentWorkers(database, clock);
  if (worker === undefined) return;
  throw new OperatorError(`A server still hosts the websites (${worker.process}). Stop it first.`);
}
