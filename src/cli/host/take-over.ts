import type { Command } from 'commander';
import { OperatorError } from '../../lib/operator-error.ts';
import type { Platform } from '../../platform/platform.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { requireConsent } from '../terminal/confirm.ts';

/** For when the folder that the websites were in is lost, but not the database. */
export function addHostTakeOver(host: Command): void {
  host
    .command('take-over')
    .summary('serve the websites from this data folder, in place of another that is lost')
    .description(
      'serve the websites from this data folder from now on, in place of another, which is lost (HOMEPORT_HOST=embedded, on ' +
        'PostgreSQL). One that was moved or restored needs no such thing. The files and the backups of the websites stay where ' +
        'they were: what this folder does not have, "homeport install apply" begins anew',
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
      await requireConsent(`Serve the websites from ${config.dataDir} from now on, and from nowhere else?`, {
        effect: `With that, the websites are served from ${config.dataDir} alone.`,
        kept: 'Nothing was changed.',
      });
    }
    const { replacedWebsitesFolder } = await import('../../app/embedded-websites.ts');
    const { takeOverWebsites } = await import('../../features/hosts/websites-folder.ts');
    const here = await replacedWebsitesFolder(platform);
    const before = await takeOverWebsites(platform, here);
    const elsewhere = before !== null && (before.path !== here.path || before.machine !== here.machine);
    process.stdout.write(
      `The websites are served from ${config.dataDir}${elsewhere ? `, no more from ${before.path} on ${before.machine}` : ''}.\n`,
    );
  });
}

/** It would go on from the other folder, and know of nothing. */
async function requireNoServer({ database, clock }: Platform): Promise<void> {
  const { presentWorkers } = await import('../platform/present-workers.ts');
  const [worker] = await presentWorkers(database, clock);
  if (worker === undefined) return;
  throw new OperatorError(`A server hosts the websites still (${worker.process}). End it first.`);
}
