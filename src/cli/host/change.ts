import type { Command } from 'commander';
import type { HostChoice, HostReach } from '../../features/hosts/service.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { collect } from '../terminal/arguments.ts';

export function addHostChange(host: Command): void {
  host
    .command('change')
    .summary('change the addresses and the labels of a host')
    .description(
      'change the name for SFTP and SSH, the addresses of the websites, and which new installs a host gets. The portal, the API and ' +
        'status reports show addresses at once. "homeport host records" prints the new DNS records',
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
    .option(
      '--label <word>',
      'what the machine has or is for, such as ssd or a customer, in place of the current labels; repeatable',
      collect,
    )
    .option('--no-labels', 'remove its labels')
    .option(
      '--reserved',
      'place only installs of accounts there that want its labels ("homeport account placement")',
    )
    .option('--no-reserved', 'place installs of all accounts there')
    .addHelpText(
      'after',
      '\nExample:\n  homeport host change web2 --edge-address 203.0.113.7 --edge-address 2001:db8::7' +
        '\n  homeport host change web2 --label ssd --reserved',
    )
    .action(change);
}

interface ChangeOptions {
  /** False removes it. */
  publicName?: string | false;
  edgeAddress?: string[];
  /** False removes them. */
  edgeAddresses: boolean;
  label?: string[];
  /** False removes them. */
  labels: boolean;
  reserved?: boolean;
}

async function change(name: string, options: ChangeOptions, command: Command): Promise<void> {
  const wanted = changeOf(options);
  await withPlatform(command, async (_platform, { hosts }) => {
    const { public_name, edge_addresses, labels, reserved } = await hosts.change(name, wanted);
    const told: [isChanged: boolean, sentence: string][] = [
      [
        wanted.publicName !== undefined,
        public_name === null ? `${name} has no public name.` : `Users reach ${name} at ${public_name}.`,
      ],
      [
        wanted.edgeAddresses !== undefined,
        edge_addresses.length === 0
          ? `${name} has no edge addresses.`
          : `Visitors reach the websites of ${name} at ${edge_addresses.join(' and ')}.`,
      ],
      [
        wanted.labels !== undefined,
        labels.length === 0 ? `${name} has no labels.` : `${name} has the labels ${labels.join(', ')}.`,
      ],
      [
        wanted.reserved !== undefined,
        reserved
          ? `${name} takes new installs only of accounts that want its labels.`
          : `${name} takes new installs of all accounts.`,
      ],
    ];
    for (const [isChanged, sentence] of told) if (isChanged) process.stdout.write(`${sentence}\n`);
  });
}

/** The values of an option that may be repeated or negated; undefined without either. Throws OperatorError with both. */
function listOf(values: string[] | undefined, isKept: boolean, options: string): string[] | undefined {
  if (isKept) return values;
  if (values !== undefined) throw new OperatorError(`Use either ${options}.`);
  return [];
}

function changeOf(options: ChangeOptions): HostReach & HostChoice {
  const { publicName, reserved } = options;
  const addresses = listOf(
    options.edgeAddress,
    options.edgeAddresses,
    '--edge-address or --no-edge-addresses',
  );
  const labels = listOf(options.label, options.labels, '--label or --no-labels');
  const change = {
    ...(publicName === undefined ? {} : { publicName: publicName === false ? null : publicName }),
    ...(addresses === undefined ? {} : { edgeAddresses: addresses }),
    ...(labels === undefined ? {} : { labels }),
    ...(reserved === undefined ? {} : { reserved }),
  };
  if (Object.keys(change).length === 0) {
    throw new OperatorError(
      'Name a change: --public-name, --edge-address, --label or --reserved, or one of them with "no".',
    );
  }
  return change;
}
