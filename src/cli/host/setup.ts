import { type Command, InvalidArgumentError } from 'commander';
import { configOf } from '../platform/configuration.ts';
import { requireRoot } from './require-root.ts';

export function addHostSetup(host: Command): void {
  host
    .command('setup')
    .summary('make this Debian machine ready to run websites')
    .description(
      'install what the Linux host needs and make its users and folders. With systemd, start the host and the control ' +
        'plane as services. Safe to repeat: it adds and reports only what is missing',
    )
    .option('--packages', 'install the packages, and nothing else')
    .option(
      '--services',
      'write the units again and restart the running services, as an upgrade needs, and nothing else',
    )
    .option(
      '--wait <seconds>',
      'how long to wait for each service to be ready, without the time in which it works',
      secondsOf,
      300,
    )
    // The script of the package, while "homeport upgrade" watches the services.
    .addOption(host.createOption('--no-wait').hideHelp())
    .addHelpText('after', '\nExample:\n  homeport host setup')
    .action(async ({ packages = false, services = false, wait }: SetupOptions, command: Command) => {
      requireRoot('homeport host setup');
      const config = configOf(command);
      const { renewServices, setUp } = await import('./machine-setup.ts');
      const waitMs = wait === false ? null : wait * 1000;
      if (services) await renewServices({ waitMs });
      else await setUp(config, { packagesOnly: packages, waitMs: waitMs ?? 0 });
    });
}

interface SetupOptions {
  packages?: boolean;
  services?: boolean;
  wait: number | false;
}

function secondsOf(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It takes a whole number of seconds.');
}
