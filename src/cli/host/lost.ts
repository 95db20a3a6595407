import type { Command } from 'commander';
import { withOwnCommand } from '../../lib/own-command.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { requireConsent } from '../terminal/confirm.ts';

/** Adds `host lost`, which gives a host up, and `host found`, the way back. */
export function addHostLost(host: Command): void {
  host
    .command('lost')
    .summary('give a host up')
    .description(
      'give a host up, because its machine is lost or must not serve any more. It gets no commands and no installs, its questions are refused, and ' +
        'the edges of the other hosts neither forward to it nor accept it. If it answers, or comes back, all its websites stop; nothing of them is ' +
        'deleted. "homeport host found" takes it back',
    )
    .argument('<name>', 'the host')
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  homeport host lost web2')
    .action(async (name: string, { yes }: { yes?: boolean }, command: Command) => {
      await withPlatform(command, async (_platform, { hosts, lostHosts }) => {
        const { installs } = await hosts.find(name);
        const what = `${installs === 1 ? '1 install' : `${installs} installs`} on ${name}`;
        if (yes !== true) {
          await requireConsent(`Give ${name} up? If it still runs, the websites of ${what} stop.`, {
            effect: `This stops the websites of ${what}, as soon as it answers.`,
            kept: 'Nothing was changed.',
          });
        }
        await lostHosts.giveUp(name);
        process.stdout.write(
          withOwnCommand(
            `${name} is given up, with ${installs === 1 ? '1 install' : `${installs} installs`}. "homeport host rebuild ${name}" makes them again on others. If this was a mistake: "homeport host found ${name}".\n`,
          ),
        );
      });
    });
  host
    .command('found')
    .summary('take a host back that was given up')
    .description(
      'take a host back that was given up. It serves its installs again as they were on it. What it has of installs that are on other hosts now ' +
        'stays set aside, and "homeport install orphans" lists it',
    )
    .argument('<name>', 'the host')
    .addHelpText('after', '\nExample:\n  homeport host found web2')
    .action(async (name: string, _options: unknown, command: Command) => {
      await withPlatform(command, async (_platform, { lostHosts }) => {
        await lostHosts.takeBack(name);
        process.stdout.write(`${name} is taken back. Its websites are served again as soon as it answers.\n`);
      });
    });
}
