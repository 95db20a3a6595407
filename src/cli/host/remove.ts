import type { Command } from 'commander';
import { withPlatform } from '../platform/with-platform.ts';

export function addHostRemove(host: Command): void {
  host
    .command('remove')
    .description('remove a host without installs from the platform; the machine stays unchanged')
    .argument('<name>', 'the host')
    .addHelpText('after', '\nExample:\n  homeport host remove web2')
    .action(async (name: string, _options: unknown, command: Command) => {
      await withPlatform(command, async (_platform, { hosts }) => {
        await hosts.remove(name);
        process.stdout.write(`Removed the host ${name}.\n`);
      });
    });
}
