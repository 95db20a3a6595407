import type { Command } from 'commander';
import { allHosts, placeOf } from '../../features/hosts/store.ts';
import { removeCopy } from '../../features/provisioning/moves/remove-copy.ts';
import {
  allOrphans,
  deleteOrphan,
  EMBEDDED,
  installsOf,
  type Orphan,
} from '../../features/provisioning/orphan-store.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import { requireOwnFolder } from '../platform/own-folder.ts';
import { withPlatform } from '../platform/with-platform.ts';
import { requireConsent } from '../terminal/confirm.ts';
import { printable, printJson, shownTime, table } from '../terminal/output.ts';

/** Prints the orphans: installs that a host has and the database does not know. */
export async function listOrphans({ json }: { json?: boolean }, command: Command): Promise<void> {
  await withPlatform(command, async ({ database }) => {
    const names = new Map((await allHosts(database.reader)).map(({ id, name }) => [id, name]));
    const orphans = (await allOrphans(database.reader)).map((orphan) => ({
      ...orphan,
      host: orphan.host === EMBEDDED ? null : (names.get(orphan.host) ?? orphan.host),
    }));
    if (json) return printJson(orphans);
    process.stdout.write(
      orphans.length === 0
        ? 'There are no installs that the database does not know.\n'
        : table(
            ['ID', 'NAME', 'HOST', 'SERVED', 'FOUND', 'HOST NAMES'],
            orphans.map(({ id, name, host, is_served, found_at, hostnames }) => [
              id,
              printable(name ?? '-'),
              host ?? '-',
              is_served ? 'yes' : 'no',
              shownTime(found_at, '-'),
              printable(hostnames.join(' ')),
            ]),
          ),
    );
  });
}

/** Deletes an orphan from its host after confirmation. Throws OperatorError. */
export async function discardOrphan(id: string, { yes }: { yes?: boolean }, command: Command): Promise<void> {
  await withPlatform(command, async (platform, { hosts }) => {
    const { database } = platform;
    const [orphan, elsewhere] = (await allOrphans(database.reader)).filter((one) => one.id === id);
    if (orphan === undefined) {
      throw new OperatorError(`There is no orphan ${id}; "homeport install orphans" lists them.`);
    }
    if ((await installsOf(database.reader, orphan.host, [id])).length > 0) {
      throw new OperatorError(`${id} is an install of this platform. Delete it by the API instead.`);
    }
    const all = await allHosts(database.reader);
    const known = all.find((host) => host.id === orphan.host);
    // After a move, two machines have the install, and may keep its backups in one place.
    const holder = (await placeOf(database.reader, id))?.hostId ?? elsewhere?.host;
    const serving = all.find((host) => host.id === holder && host.id !== orphan.host);
    if (orphan.is_served) {
      const adopt = `homeport host adopt${known === undefined ? '' : ` ${known.name}`}`;
      throw new OperatorError(
        `${id} is still served, so it may belong to another platform. Check HOMEPORT_DATABASE_URL and HOMEPORT_DATA_DIR. ` +
          `If this is the right database, set it aside first: "${adopt}".`,
      );
    }
    if (orphan.host === EMBEDDED) await requireOwnFolder(platform);
    const what = `${orphan.name ?? 'the install'} (${id})${known === undefined ? '' : ` on ${known.name}`}`;
    if (yes !== true) {
      await requireConsent(`Delete ${what}, with its files, database and backups?`, {
        effect: `This deletes the files, the database and the backups of ${what}.${
          serving === undefined ? '' : ` Backups that ${serving.name} keeps in the same place stay.`
        }`,
        kept: 'Nothing was deleted.',
      });
    }
    if (orphan.host === EMBEDDED) {
      const { discardFromFolder } = await import('../../app/embedded-websites.ts');
      await discardFromFolder(platform, id);
    } else if (known !== undefined) {
      const { askHost } = await import('../platform/ask-host.ts');
      const target = await hosts.target(known.name);
      const install = { id, name: nameOf(orphan) };
      if (serving === undefined) await askHost(target, (remote) => remote.remove(install));
      else {
        const of = await hosts.target(serving.name);
        await askHost(target, (remote) =>
          askHost(of, (present) => removeCopy(install, remote, present, platform.random.uuid())),
        );
      }
    }
    await database.write(({ queries }) => deleteOrphan(queries, orphan.host, id));
    process.stdout.write(`Deleted ${what}.\n`);
  });
}

/** The host uses the name in its record. Without one, this name satisfies the protocol and belongs to no install. */
function nameOf({ id, name }: Orphan): string {
  return name ?? `install-${id.replaceAll('-', '')}`;
}
