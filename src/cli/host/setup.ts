import type { Command } from 'commander';
import { configOf } from '../configuration.ts';
import { requireRoot } from './require-root.ts';

export function addHostSetup(host: Command): void {
  host
    .command('setup')
    .summary('make this Debian machine ready to run websites')
    .description(
      'install what the Linux host needs, make its user, folders and (where systemd runs) its unit. ' +
        'Can be run again: it does what is missing, and says what that was',
    )
    .option('--packages', 'install the packages, and nothing else')
    .addHelpText('after', '\nExample:\n  homeport host setup')
    .action(async ({ packages = false }: { packages?: boolean }, command: Command) => {
      requireRoot('homeport host setup');
      const config = configOf(command);
      const { setUp } = await import('./machine-setup.ts');
      await setUp(config, packages);
    });
}
