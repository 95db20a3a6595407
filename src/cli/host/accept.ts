import type { Command } from 'commander';
import { withPlatform } from '../platform/with-platform.ts';

export function addHostAcceptAndDrain(host: Command): void {
  host
    .command('drain')
    .summary('stop placing new installs on a host, and empty it')
    .description(
      'stop placing new installs on a host; its installs keep running. --move then moves them to other hosts, one after the other, and ' +
        'waits for that. Each goes where a new install of its account would. One that cannot move stays, and is named at the end',
    )
    .argument('<name>', 'the host')
    .option('--move', 'move its installs to other hosts')
    .addHelpText('after', '\nExample:\n  homeport host drain web2 --move')
    .action(async (name: string, { move }: { move?: boolean }, command: Command) => {
      await setAccepting(name, false, command);
      if (!move) return;
      const { moveAway } = await import('./move-away.ts');
      await moveAway(name, command);
    });
  host
    .command('accept')
    .description('place new installs on a host again')
    .argument('<name>', 'the host')
    .addHelpText('after', '\nExample:\n  homeport host accept web2')
    .action((name: string, _options: unknown, command: Command) => setAccepting(name, true, command));
}

async function setAccepting(name: string, accepting: boolean, command: Command): Promise<void> {
  await withPlatform(command, async (_platform, { hosts }) => {
    await hosts.setAccepting(name, accepting);
    process.stdout.write(accepting ? `${name} takes new installs.\n` : `${name} takes no new installs.\n`);
  });
}
