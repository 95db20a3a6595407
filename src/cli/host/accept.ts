import type { Command } from 'commander';
import { withPlatform } from '../platform/with-platform.ts';

export function addHostAcceptAndDrain(host: Command): void {
  host
    .command('drain')
    .description('stop placing new installs on a host; its installs keep running')
    .argument('<name>', 'the host')
    .addHelpText('after', '\nExample:\n  homeport host drain web2')
    .action((name: string, _options: unknown, command: Command) => setAccepting(name, false, command));
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
