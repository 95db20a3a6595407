import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { parseUuid } from '../../../lib/ids.ts';
import { type Fault, LOOK_AT_THE_LOG } from './finding.ts';
import type { InspectedHost } from './inspect.ts';

/** Something on the machine that belongs to an install, or to none that its name could tell. */
export interface Thing {
  /** Null where the name tells of no install. */
  installId: string | null;
  /** `daemon php-…`, as people are told of it. */
  what: string;
  /** The name alone. */
  name: string;
  /** Takes it away; null for what holds data. */
  remove: (() => Promise<void>) | null;
  /** How a person takes it away. */
  remedy: string;
}

/** A kind of {@link Thing}, and how all of it are listed. */
export interface Kind {
  /** In a word, for what is said when they cannot be listed. */
  name: string;
  list(): Promise<Thing[]>;
}

/** Prefixes of what belongs to one install among what is named alike: the rest is the host's own. */
const OF_INSTALLS = /^(?:php|redis|install)-([0-9a-f-]{36})$/;
/** The database of an install, and what a restore loads into before the two are exchanged. */
const DATABASE = /^hp_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})(?:_new)?$/;
/**
 * Databases of an exchange of tables under way. Like `<database>_new`, what is left of them is taken away when the install is next
 * brought up.
 */
const PASSING = /^hp_(exchange|replaced)_/;
/** Users and databases of websites that exist for a moment. Whoever makes the next of a kind takes away what is left of the last. */
const SCRATCH = /^(?:hp_)?homeport[_-][a-z]+[_-][0-9a-f]{8}$/;

/** All kinds of things of installs, in the order in which they are taken away. */
export function kindsOfThings(host: InspectedHost): Kind[] {
  const { web, daemons, cgroups, users, databases, layout } = host;
  const installOf = (name: string) => OF_INSTALLS.exec(name)?.[1] ?? null;

  async function folders(): Promise<Thing[]> {
    const names = await readdir(layout.installs);
    // Afterwards, for the user of a scratch website is made before its folder, and goes after it.
    const scratch = await scratchIds(host);
    return names
      .filter((name) => !scratch.has(name))
      .map((name) => ({
        installId: parseUuid(name) === name ? name : null,
        what: `folder ${join(layout.installs, name)}`,
        name,
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
        what: `${kind} ${name}`,
        name,
        remove: () => remove(name),
        remedy: LOOK_AT_THE_LOG,
      }));

  return [
    {
      name: 'web server',
      list: async () =>
        web.served().map((id) => ({
          installId: id,
          what: `vhost ${id}`,
          name: id,
          remove: () => web.remove(id),
          remedy: LOOK_AT_THE_LOG,
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
            what: `unix user ${name}`,
            name,
            remove: () => users.remove(installId),
            remedy: LOOK_AT_THE_LOG,
          })),
    },
    {
      name: 'databases',
      list: async () =>
        (await databases.list())
          .filter((name) => !PASSING.test(name) && !SCRATCH.test(name))
          .map((name) => ({
            installId: DATABASE.exec(name)?.slice(1).join('-') ?? null,
            what: `database ${name}`,
            name,
            remove: null,
            remedy: 'Look into it; "drop database" in mariadb removes it.',
          })),
    },
    { name: 'folders', list: folders },
  ];
}

/** That a thing is there which is nobody's. */
export function straying({ remove, remedy }: Thing): Fault {
  return { message: 'It belongs to no install of this host.', mend: remove, remedy };
}

async function scratchIds({ users }: InspectedHost): Promise<Set<string>> {
  const scratch = (await users.list()).filter(({ name }) => SCRATCH.test(name));
  return new Set(scratch.map(({ installId }) => installId));
}
