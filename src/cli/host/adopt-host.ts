import type { Command } from 'commander';
import { OperatorError } from '../../operator-error.ts';
import type { Platform } from '../../platform.ts';
import { allOrphans, EMBEDDED } from '../../resources/hosts/orphan-store.ts';
import { type Reconciled, reconcileHost } from '../../resources/hosts/reconciliation.ts';
import { allHosts } from '../../resources/hosts/store.ts';
import { requireConsent } from '../confirm.ts';
import { withPlatform } from '../with-platform.ts';

/** Makes a host belong to this platform and compares it, after a question. Throws OperatorError. */
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
      const { folderInventory } = await import('../../embedded-websites.ts');
      reconciled = await reconcileHost(platform, folderInventory(platform.config), id, { accepted: true });
    } else {
      const { askHost } = await import('./ask-host.ts');
      const target = await hosts.target(name);
      reconciled = await askHost(target, (remote) => reconcileHost(platform, remote, id, { accepted: true }));
    }
    const count = reconciled.orphans.length;
    process.stdout.write(
      `${name ?? 'The data folder'} belongs to this platform. Websites put aside: ${count}${count === 0 ? '' : ' ("homeport install orphans")'}.\n`,
    );
  });
}

async function hostIdOf({ config, database }: Platform, name: string | undefined): Promise<string> {
  if (config.host === 'embedded' && name === undefined) {
    const { isOwnFolder } = await import('../../embedded-websites.ts');
    if (await isOwnFolder(config, database)) return EMBEDDED;
    throw new OperatorError(
      'The websites of this database are in another data folder. Run this command there.',
    );
  }
  if (name === undefined) throw new OperatorError('Name the host; "homeport host list" shows them all.');
  const host = (await allHosts(database.reader)).find((known) => known.name === name);
  if (host) return host.id;
  throw new OperatorError(`There is no host "${name}"; "homeport host list" shows them all.`);
}
