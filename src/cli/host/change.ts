import type { Command } from 'commander';
import type { HostReach } from '../../features/hosts/service.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { collect } from '../terminal/arguments.ts';

export function addHostChange(host: Command): void {
  host
    .command('change')
    .summary('change the addresses of a host')
    .description(
      'change the name for SFTP and SSH, and the addresses of the websites. The portal, the API and ' +
        'status reports show them at once. "homeport host records" prints the new DNS records',
    )
    .argument('<name>', 'the host')
    .option('--public-name <name>', 'a host name or an address, such as web2.example.com')
    .option(
      '--no-public-name',
      'remove the public name; users see the address of the control plane, or the host of the public URL',
    )
    .option(
      '--edge-address <ip>',
      'an address of its websites, in place of the current ones; repeatable',
      collect,
    )
    .option('--no-edge-addresses', 'remove its addresses; HOMEPORT_EDGE_ADDRESSES applies')
    .addHelpText(
      'after',
      '\nExample:\n  homeport host change web2 --edge-address 203.0.113.7 --edge-address 2001:db8::7',
    )
    .action(change);
}

interface ChangeOptions {
  /** False removes it. */
  publicName?: string | false;
  edgeAddress?: string[];
  /** False removes them. */
  edgeAddresses: boolean;
}

async function change(name: string, options: ChangeOptions, command: Command): Promise<void> {
  const reach = reachOf(options);
  await withPlatform(command, async (_platform, { hosts }) => {
    const { public_name, edge_addresses } = await hosts.setReach(name, reach);
    const told = [
      public_name === null ? `${name} has no public name.` : `Users reach ${name} at ${public_name}.`,
      edge_addresses.length === 0
        ? `${name} has no edge addresses.`
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
    throw new OperatorError('Use either --edge-address or --no-edge-addresses.');
  }
  const addresses = edgeAddresses ? edgeAddress : [];
  if (publicName === undefined && addresses === undefined) {
    throw new OperatorError(
      'Name a change: --public-name, --no-public-name, --edge-address or --no-edge-addresses.',
    );
  }
  return {
    ...(publicName === undefined ? {} : { publicName: publicName === false ? null : publicName }),
    ...(addresses === undefined ? {} : { edgeAddresses: addresses }),
  };
}
