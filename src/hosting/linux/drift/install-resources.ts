import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseUuid } from '../../../lib/ids.ts';
import { type Fault, READ_THE_LOG } from './finding.ts';
import type { InspectedHost } from './inspected-host.ts';

/** A resource on the machine (daemon, folder, database, …) that belongs to an install, or should. */
export interface InstallResource {
  /** Null if the name belongs to no install. */
  installId: string | null;
  /** For people: `daemon php-…`. */
  label: string;
  /** Removes it; null for data, which only a person may delete. */
  remove: (() => Promise<void>) | null;
  /** Advice for removing it by hand. */
  remedy: string;
}

/** A kind of {@link InstallResource}. */
export interface ResourceKind {
  /** For the message if it cannot be listed. */
  name: string;
  list(): Promise<InstallResource[]>;
}

/** Names of an install's daemons and cgroups. All others belong to the host itself. */
const OF_INSTALLS = /^(?:php|redis|install)-([0-9a-f-]{36})$/;
/** The database of an install, and the one that a restore loads into before it replaces the tables. */
const DATABASE = /^hp_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})(?:_new)?$/;
/** Databases of a table replacement. Like `<database>_new`, leftovers are removed when the install is next brought up. */
const TEMPORARY = /^hp_(exchange|replaced)_/;
/** Users and databases of scratch websites. The next scratch website of a kind removes leftovers of the last one. */
const SCRATCH = /^(?:hp_)?homeport[_-][a-z]+[_-][0-9a-f]{8}$/;

/** All kinds of resources of installs, in the order of their removal. */
export function resourceKinds(host: InspectedHost): ResourceKind[] {
  const { web, daemons, cgroups, users, databases, layout } = host;
  const installOf = (name: string) => OF_INSTALLS.exec(name)?.[1] ?? null;

  async function folders(): Promise<InstallResource[]> {
    const names = await readdir(layout.installs);
    // Listed after the folders: a scratch website's user exists before and after its folder.
    const scratch = await scratchIds(host);
    return names
      .filter((name) => !scratch.has(name))
      .map((name) => ({
        installId: parseUuid(name) === name ? name : null,
        label: `folder ${join(layout.installs, name)}`,
        remove: null,
        remedy: 'Look into it, then remove it.',
      }));
  }

  const named = (kind: string, names: string[], remove: (name: string) => Promise<void>) =>
    names
      .map((name) => ({ name, installId: installOf(name) }))
      .filter(({ installId }) => installId !== null)
      .map(({ name, installId }) => ({
        installId,
        label: `${kind} ${name}`,
        remove: () => remove(name),
        remedy: READ_THE_LOG,
      }));

  return [
    {
      name: 'web server',
      list: async () =>
        web.served().map((id) => ({
          installId: id,
          label: `website ${id} of the web server`,
          remove: () => web.remove(id),
          remedy: READ_THE_LOG,
        })),
    },
    {
      name: 'daemons',
      list: async () => {
        const names = (await daemons.list()).map(({ name }) => name);
        return named('daemon', names, (name) => daemons.remove(name));
      },
    },
    {
      name: 'cgroups',
      list: async () => named('cgroup', await cgroups.list(), (name) => cgroups.remove(name)),
    },
    {
      name: 'unix users',
      list: async () =>
        (await users.list())
          .filter(({ name }) => !SCRATCH.test(name))
          .map(({ installId, name }) => ({
            installId,
            label: `unix user ${name}`,
            remove: () => users.remove(installId),
            remedy: READ_THE_LOG,
          })),
    },
    {
      name: 'databases',
      list: async () =>
        (await databases.list())
          .filter((name) => !TEMPORARY.test(name) && !SCRATCH.test(name))
          .map((name) => ({
            installId: DATABASE.exec(name)?.slice(1).join('-') ?? null,
            label: `database ${name}`,
            remove: null,
            remedy: 'Look into it; "drop database" in mariadb removes it.',
          })),
    },
    {
      name: 'unix groups',
      async list() {
        const names = (await users.groupsLeft()).filter((name) => !SCRATCH.test(name));
        const ids = names.length === 0 ? new Map<string, string>() : await idsByName(host);
        return names.map((name) => ({
          installId: ids.get(name) ?? null,
          label: `unix group ${name}`,
          remove: () => users.removeGroup(name),
          remedy: READ_THE_LOG,
        }));
      },
    },
    { name: 'folders', list: folders },
  ];
}

/** The fault of a resource without an owner. */
export function unowned({ remove, remedy }: InstallResource): Fault {
  return { message: 'It belongs to no install of this host.', repair: remove, remedy };
}

/** Installs that this host knows. */
async function idsByName({ records, aside, journal }: InspectedHost): Promise<Map<string, string>> {
  const kept = [...(await records.all()), ...(await aside.all())].map(({ state }) => state);
  return new Map([...(await journal.unfinished()), ...kept].map(({ id, name }) => [name, id]));
}

async function scratchIds({ users }: InspectedHost): Promise<Set<string>> {
  const scratch = (await users.list()).filter(({ name }) => SCRATCH.test(name));
  return new Set(scratch.map(({ installId }) => installId));
}
