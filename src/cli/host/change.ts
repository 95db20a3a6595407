import type { Command } from 'commander';
import type { HostReach } from '../../features/hosts/service.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { collect } from '../terminal/arguments.ts';

export function addHostChange(host: Command): void {
  host
    .command('change')
    .summary('change how people and visitors reach a host')
    .description(
      'change by what name people reach SFTP and SSH of a host, and at which addresses visitors reach its websites. The portal, the ' +
        'API and status reports tell them from then on; "homeport host records" has the DNS records that change with them',
    )
    .argument('<name>', 'the host')
    .option('--public-name <name>', 'a host name or an address, like web2.example.com')
    .option(
      '--no-public-name',
      'none of its own: where the control plane reaches it, or the host of the public URL',
    )
    .option(
      '--edge-address <ip>',
      'an address at which visitors reach its websites, in place of those it has; may be repeated',
      collect,
    )
    .option('--no-edge-addresses', 'none of its own: those of HOMEPORT_EDGE_ADDRESSES')
    .addHelpText(
      'after',
      '\nExample:\n  homeport host change web2 --edge-address 203.0.113.7 --edge-address 2001:db8::7',
    )
    .action(change);
}

interface ChangeOptions {
  /** False: there is to be none. */
  publicName?: string | false;
  edgeAddress?: string[];
  /** False: there are to be none. */
  edgeAddresses: boolean;
}

async function change(name: string, options: ChangeOptions, command: Command): Promise<void> {
  const reach = reachOf(options);
  await withPlatform(command, async (_platform, { hosts }) => {
    const { public_name, edge_addresses } = await hosts.setReach(name, reach);
    const told = [
      public_name === null
        ? `${name} has no public name of its own.`
        : `People reach ${name} at ${public_name}.`,
      edge_addresses.length === 0
        ? `${name} has no edge addresses of its own.`
        : `Visitors reach the websites of ${name} at ${edge_addresses.join(' and ')}.`,
    ];
    const changed = [reach.publicName !== undefined, reach.edgeAddresses !== undefined];
    process.stdout.write(
      told
        .filter((_, index) => changed[index])
        .map((sentence) => `${sentence}\n`)
        .join(''),
    );
  });
}

function reachOf({ publicName, edgeAddress, edgeAddresses }: ChangeOptions): HostReach {
  if (edgeAddress !== undefined && !edgeAddresses) {
    throw new OperatorError('Give either --edge-address or --no-edge-addresses.');
  }
  const addresses = edgeAddresses ? edgeAddress : [];
  if (publicName === undefined && addresses === undefined) {
    throw new OperatorError(
      'Say what to change: --public-name, --no-public-name, --edge-address or --no-edge-addresses.',
    );
  }
  return {
    ...(publicName === undefined ? {} : { publicName: publicName === false ? null : publicName }),
    ...(addresses === undefined ? {} : { edgeAddresses: addresses }),
  };
}
