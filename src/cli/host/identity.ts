import { rm } from 'node:fs/promises';
import type { Command } from 'commander';
import { withOwnCommand } from '../../lib/own-command.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { createIdentityFile } from './identity-file.ts';

export function addHostIdentity(host: Command): void {
  host
    .command('identity')
    .summary('renew the identity of a host')
    .description(
      'write a new identity file of a host on another machine, because the old one was lost or expires ' +
        'after ten years',
    )
    .argument('<name>', 'the host')
    .option('--out <file>', 'the file to write (default: <name>.pem)')
    .addHelpText('after', '\nExample:\n  homeport host identity web2')
    .action(async (name: string, { out }: { out?: string }, command: Command) => {
      await withPlatform(command, async (_platform, { hosts }) => {
        const identity = await hosts.renewIdentity(name);
        const file = await createIdentityFile(out ?? `${name}.pem`);
        await file.write(identity).catch(async (error: unknown) => {
          await rm(file.path, { force: true });
          throw error;
        });
        process.stdout.write(
          withOwnCommand(
            `The identity of ${name} is in ${file.path}. Copy it to the path in HOMEPORT_HOST_IDENTITY there, and restart "homeport host".\n`,
          ),
        );
      });
    });
}
