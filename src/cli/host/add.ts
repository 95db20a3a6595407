import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { printJson } from '../output.ts';
import { withPlatform } from '../with-platform.ts';
import { createIdentityFile, whatToDoWith } from './identity-file.ts';

export function addHostAdd(host: Command): void {
  host
    .command('add')
    .summary('add a machine that is to run websites')
    .description(
      'make a machine known to the control plane, and write the file by which the two know each other. New installs are put ' +
        'on it once it answers',
    )
    .argument('<name>', 'a name for it; reports show it as cluster_id')
    .argument('<address>', 'where it will listen, like https://10.0.0.2:8470')
    .option('--out <file>', 'the file to write (default: <name>.pem)')
    .option('--json', 'print JSON: id, name, address, file')
    .addHelpText('after', '\nExample:\n  homeport host add web2 https://10.0.0.2:8470')
    .action(add);
}

async function add(
  name: string,
  address: string,
  { out, json }: { out?: string; json?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (_platform, { hosts }) => {
    const file = await createIdentityFile(out ?? `${name.replaceAll('/', '-')}.pem`);
    let identity = '';
    try {
      const added = await hosts.add(name, address);
      identity = added.identity;
      if (json) printJson({ id: added.host.id, name, address: added.host.address, file: file.path });
      else {
        process.stdout.write(
          `Added the host ${name}. Its identity is in ${file.path}.\n\n${whatToDoWith(file.path, added.host.address)}`,
        );
      }
    } finally {
      await file.write(identity);
      if (identity === '') await rm(file.path, { force: true });
    }
  });
}
