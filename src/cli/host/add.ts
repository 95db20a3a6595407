import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { withOwnCommand } from '../../lib/own-command.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { collect } from '../terminal/arguments.ts';
import { printJson } from '../terminal/output.ts';
import { createIdentityFile, whatToDoWith } from './identity-file.ts';

export function addHostAdd(host: Command): void {
  host
    .command('add')
    .summary('add a machine to run websites')
    .description(
      'register a machine with the control plane, and write its identity file. New installs are placed ' +
        'on it once it answers',
    )
    .argument('<name>', 'its name; status reports show it as cluster_id')
    .argument('<address>', 'where it will listen, such as https://10.0.0.2:8470')
    .option(
      '--public-name <name>',
      'where users reach its SFTP and SSH, such as web2.example.com (default: the host in <address>)',
    )
    .option(
      '--edge-address <ip>',
      'an address of its websites, for DNS records; repeatable (default: HOMEPORT_EDGE_ADDRESSES)',
      collect,
    )
    .option('--out <file>', 'the file to write (default: <name>.pem)')
    .option('--json', 'print JSON: id, name, address, public_name, edge_addresses, file')
    .addHelpText(
      'after',
      '\nExample:\n  homeport host add web2 https://10.0.0.2:8470 --public-name web2.example.com --edge-address 203.0.113.7',
    )
    .action(add);
}

interface AddOptions {
  out?: string;
  json?: boolean;
  publicName?: string | null;
  edgeAddress?: string[];
}

async function add(
  name: string,
  address: string,
  { out, json, publicName = null, edgeAddress: edgeAddresses = [] }: AddOptions,
  command: Command,
): Promise<void> {
  await withPlatform(command, async (_platform, { hosts }) => {
    const file = await createIdentityFile(out ?? `${name.replaceAll('/', '-')}.pem`);
    let identity = '';
    try {
      const added = await hosts.add(name, address, { publicName, edgeAddresses });
      identity = added.identity;
      const { id, address: reached, public_name, edge_addresses } = added.host;
      if (json) printJson({ id, name, address: reached, public_name, edge_addresses, file: file.path });
      else {
        process.stdout.write(
          withOwnCommand(
            `Added the host ${name}. Its identity is in ${file.path}.\n\n${whatToDoWith(file.path, reached)}`,
          ),
        );
      }
    } finally {
      await file.write(identity);
      if (identity === '') await rm(file.path, { force: true });
    }
  });
}
