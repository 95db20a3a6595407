import type { Command } from 'commander';
import { withPlatform } from '../platform/with-platform.ts';

export function addHostRemove(host: Command): void {
  host
    .command('remove')
    .description('forget a host on which no installs are left; what is on the machine itself stays as it is')
    .argument('<name>', 'the host')
    .addHelpText('after', '\nExample:\n  homeport host remove web2')
    .action(async (name: string, _options: unknown, command: Command) => {
      await withPlatform(command, async (_platform, { hosts }) => {
        await hosts.remove(name);
        process.stdout.write(`${name} is no host of this platform any more.\n`);
      });
    });
}
