import type { Command } from 'commander';
import type { InstallRef } from '../../hosting/contract/host.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { idArgument } from '../terminal/arguments.ts';
import { requireConsent } from '../terminal/confirm.ts';

/** For an install that only the machine still knows of: after a database was put back to an earlier state, say. */
export function addHostForget(host: Command): void {
  host
    .command('forget')
    .summary('take an install from a host that this platform does not know')
    .description(
      'take an install from a host: its files, its database and its backups. Only for one that this platform does not have ' +
        'there, as "homeport doctor --host" names it',
    )
    .argument('<name>', 'the host')
    .argument('<install-id>', 'the install', idArgument)
    .option('--yes', 'do not ask')
    .addHelpText('after', '\nExample:\n  homeport host forget web2 1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11')
    .action(forget);
}

async function forget(name: string, id: string, { yes }: { yes?: boolean }, command: Command): Promise<void> {
  await withPlatform(command, async ({ database }, { hosts }) => {
    const target = await hosts.target(name);
    const known = await database.reader
      .selectFrom('installs')
      .select('name')
      .where('id', '=', id)
      .executeTakeFirst();
    if (known) {
      throw new OperatorError(`${known.name} is an install of this platform. Delete it by the API instead.`);
    }
    const question = `Take the install ${id} from ${name}, its files, database and backups included?`;
    if (yes !== true) {
      await requireConsent(question, {
        effect: `This deletes the files, the database and the backups of ${id} on ${name}.`,
        kept: 'Nothing was taken away.',
      });
    }
    const { askHost } = await import('../platform/ask-host.ts');
    await askHost(target, (remote) => remote.remove(forgottenInstall(id)));
    process.stdout.write(`${name} has nothing of the install ${id} any more.\n`);
  });
}

/** Its name is in the host's own record; one that is lost with it is stood for by a name that no install was given. */
function forgottenInstall(id: string): InstallRef {
  return { id, name: `install-${id.replaceAll('-', '')}` };
}
