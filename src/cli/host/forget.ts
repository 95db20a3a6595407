import type { Command } from 'commander';
import { placeOf } from '../../features/hosts/store.ts';
import type { InstallRef } from '../../hosting/contract/install-ref.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { idArgument } from '../terminal/arguments.ts';
import { requireConsent } from '../terminal/confirm.ts';

/** Adds the command for an install that only the host knows, for example after restoring an older database. */
export function addHostForget(host: Command): void {
  host
    .command('forget')
    .summary('delete an unknown install from a host')
    .description(
      'delete an install that the platform does not know from a host, with files, database and backups. "homeport doctor --host" ' +
        'lists such installs',
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
    // The machine may keep its backups where that of the former install does.
    if ((await placeOf(database.reader, id)) !== undefined) {
      throw new OperatorError(
        `${id} was deleted from this platform, which keeps its backups for a while, to restore it. "homeport install deleted" lists it.`,
      );
    }
    const question = `Delete the install ${id} from ${name}, with its files, database and backups?`;
    if (yes !== true) {
      await requireConsent(question, {
        effect: `This deletes the files, the database and the backups of ${id} on ${name}.`,
        kept: 'Nothing was deleted.',
      });
    }
    const { askHost } = await import('../platform/ask-host.ts');
    await askHost(target, (remote) => remote.remove(forgottenInstall(id)));
    process.stdout.write(`Deleted the install ${id} from ${name}.\n`);
  });
}

/** The host uses the name in its record. Without one, this name satisfies the protocol and belongs to no install. */
function forgottenInstall(id: string): InstallRef {
  return { id, name: `install-${id.replaceAll('-', '')}` };
}
