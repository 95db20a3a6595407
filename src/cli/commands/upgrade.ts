import { type Command, InvalidArgumentError } from 'commander';
import { OperatorError } from '../../lib/operator-error.ts';
import { requireRoot } from '../host/require-root.ts';
import { configOf } from '../platform/configuration.ts';

interface Options {
  check?: boolean;
  yes?: boolean;
  resume?: boolean;
  ignoreRoom?: boolean;
  wait: number;
}

export function addUpgradeCommand(program: Command): void {
  program
    .command('upgrade')
    .summary('install a newer release, and return to this one if it does not become ready')
    .description(
      'upgrade the Debian package: find and verify a newer release, back up the platform, install, and wait until it is ready. If it does not become ' +
        'ready, return to this version and its database. An upgrade that was interrupted goes on when you run the command again',
    )
    .argument('[file]', 'the file of a package (default: the newest of HOMEPORT_RELEASES_URL)')
    .option('--check', 'show what an upgrade would do, and change nothing')
    .option('--yes', 'do not ask for confirmation')
    .option(
      '--wait <seconds>',
      'how long a step of the start of the new version may take; a quarter of it without a sign of life',
      secondsOf,
      120,
    )
    .option(
      '--ignore-room',
      'go on although the disks seem too full. One that becomes full can end the service',
    )
    .addOption(program.createOption('--resume').hideHelp())
    .addHelpText(
      'after',
      '\nExit codes:\n  0  upgraded, or nothing to do\n  1  nothing was changed\n  3  returned to the former version\n' +
        '  4  neither version is ready, or it cannot go on\n\nExample:\n  homeport upgrade\n  homeport upgrade ./homeport_0.4.0_amd64.deb',
    )
    .action(async (file: string | undefined, options: Options, command: Command) => {
      // Another installation needs no root, but another command.
      if (process.getuid?.() !== 0) {
        const { refuseOtherInstallation } = await import('../host/upgrade/begin.ts');
        await refuseOtherInstallation(file);
      }
      requireRoot('homeport upgrade');
      const { check = false, yes = false, resume = false, ignoreRoom = false, wait } = options;
      if (resume) {
        const { finishUpgrade, orNeedsOperator } = await import('../host/upgrade/finish.ts');
        const { aloneUpgrading, readUpgradeState } = await import('../host/upgrade/state.ts');
        process.exitCode = await aloneUpgrading(async () => {
          const state = await readUpgradeState();
          if (state === null) throw new OperatorError('No upgrade is unfinished.');
          return orNeedsOperator(() => finishUpgrade(state, { waitMs: wait * 1000 }));
        });
        return;
      }
      const { upgrade } = await import('../host/upgrade/begin.ts');
      process.exitCode = await upgrade(file, configOf(command), { check, yes, ignoreRoom, wait });
    });
}

function secondsOf(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It takes a whole number of seconds.');
}
