import type { Command } from 'commander';
import { allHosts } from '../../features/hosts/store.ts';
import { allOrphans, EMBEDDED } from '../../features/provisioning/orphan-store.ts';
import { type Reconciled, reconcileHost } from '../../features/provisioning/reconciliation.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { withOwnCommand } from '../../lib/own-command.ts';
import type { Platform } from '../../platform/platform.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { requireConsent } from '../terminal/confirm.ts';

/** Assigns a host to this platform after confirmation, and compares it with the database. Throws OperatorError. */
export async function adoptHost(
  name: string | undefined,
  { yes = false }: { yes?: boolean },
  command: Command,
): Promise<void> {
  await withPlatform(command, async (platform, { hosts }) => {
    const id = await hostIdOf(platform, name);
    const served = (await allOrphans(platform.database.reader)).filter(
      (orphan) => orphan.host === id && orphan.is_served,
    );
    if (!yes) {
      await requireConsent(
        `Stop serving every website that this database does not know (${served.length} when it was last compared)?`,
        {
          effect: 'The host stops serving every website that this database does not know.',
          kept: 'Nothing was changed.',
        },
      );
    }
    let reconciled: Reconciled;
    if (name === undefined) {
      const { folderInventory } = await import('../../app/embedded-websites.ts');
      reconciled = await reconcileHost(platform, folderInventory(platform.config), id, { accepted: true });
    } else {
      const { askHost } = await import('../platform/ask-host.ts');
      const target = await hosts.target(name);
      reconciled = await askHost(target, (remote) => reconcileHost(platform, remote, id, { accepted: true }));
    }
    const count = reconciled.orphans.length;
    process.stdout.write(
      `${name ?? 'The data folder'} belongs to this platform. Websites set aside: ${count}${count === 0 ? '' : withOwnCommand(' ("homeport install orphans")')}.\n`,
    );
  });
}

async function hostIdOf({ config, database }: Platform, name: string | undefined): Promise<string> {
  if (config.host === 'embedded' && name === undefined) {
    const { isOwnFolder } = await import('../../app/embedded-websites.ts');
    if (await isOwnFolder(config, database)) return EMBEDDED;
    throw new OperatorError(
      'The websites of this database are in another data folder. Run this command there.',
    );
  }
  if (name === undefined) throw new OperatorError('Name the host. List hosts with "homeport host list".');
  const host = (await allHosts(database.reader)).find((known) => known.name === name);
  if (host) return host.id;
  throw new OperatorError(`There is no host "${name}". List hosts with "homeport host list".`);
}
