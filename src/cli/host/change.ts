import type { Command } from 'commander';
import { OperatorError } from '../../operator-error.ts';
import { withPlatform } from '../with-platform.ts';

export function addHostChange(host: Command): void {
  host
    .command('change')
    .summary('change by what name people reach a host')
    .description(
      'change by what name people reach SFTP and SSH of a host: the portal shows it to them. Websites are reached by names of ' +
        'their own, and their DNS records are the same on all hosts (HOMEPORT_EDGE_ADDRESSES)',
    )
    .argument('<name>', 'the host')
    .option('--public-name <name>', 'a host name or an address, like web2.example.com')
    .option(
      '--no-public-name',
      'none of its own: where the control plane reaches it, or the host of the public URL',
    )
    .addHelpText('after', '\nExample:\n  homeport host change web2 --public-name web2.example.com')
    .action(change);
}

/** `publicName` is false if there is to be none. */
async function change(name: string, { publicName }: { publicName?: string | false }, command: Command) {
  if (publicName === undefined) {
    throw new OperatorError('Say what to change: --public-name or --no-public-name.');
  }
  await withPlatform(command, async (_platform, { hosts }) => {
    const kept = await hosts.setPublicName(name, publicName === false ? null : publicName);
    process.stdout.write(
      kept === null ? `${name} has no public name of its own.\n` : `People reach ${name} at ${kept}.\n`,
    );
  });
}
