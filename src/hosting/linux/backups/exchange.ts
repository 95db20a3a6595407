import { lchown, lstat, mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { syncFolder, writeDurably } from '../../../lib/durable-file.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { Databases } from '../daemons/databases.ts';
import { textLiteral } from '../daemons/sql.ts';
import { runCommand } from '../machine/run-command.ts';

/** The folders of a website that a restore exchanges. */
const FOLDERS = ['htdocs', 'private'] as const;
/** In the home, and root's: the sandbox shows it, the install can list it and change nothing in it but what is made for it to fill. */
const WORKSHOP = '.restore';
const STATE = 'state.json';
/** A table that is in what is restored while that is put in place: what has it is the restored one. */
const MARK = 'homeport_restored';
const REMOVAL_MS = HOUR_MS;

const stateSchema = Type.Object({
  /** `preparing`: nothing of the website was touched. `exchanging`: all is ready, and what was begun is to be ended. */
  phase: Type.Union([Type.Literal('preparing'), Type.Literal('exchanging')]),
  database: Type.String(),
  unixUser: Type.String(),
});
const state = Compile(stateSchema);

/** Whose database is restored. */
export type Target = Pick<Static<typeof stateSchema>, 'database' | 'unixUser'>;

/** The restored website beside the present one, until it takes its place. */
export interface Workshop {
  folder: string;
  /** What the restored database is loaded into. */
  database: string;
}

export interface Exchange {
  /** Makes an empty workshop in which the install can fill `htdocs` and `private`, and an empty database beside its own. */
  prepare(home: string, target: Target, owner: { uid: number; gid: number }): Promise<Workshop>;
  /**
   * Puts what is in the workshop in the place of the present files and tables. A failure leaves the present ones, unless it
   * comes so late that only {@link recover} can end it.
   */
  exchange(home: string, target: Target): Promise<void>;
  /** Ends or undoes what was broken off; takes the workshop away. Costs next to nothing where there is none. */
  recover(home: string): Promise<void>;
}

/** What is done one after the other; a test breaks off after each. */
export const EXCHANGE_STEPS = [
  'prepared',
  'begun',
  'htdocs',
  'private',
  'tables',
  'unmarked',
  'dropped',
] as const;
export type ExchangeStep = (typeof EXCHANGE_STEPS)[number];

/**
 * Exchanging takes two renames a folder and one for all tables. Which of them were done is seen by what is there: a folder
 * that is still in the workshop was not; tables were, if the restored ones are not in the workshop's database any more. So a
 * killed host goes on from there.
 */
export function createExchange(
  databases: Databases,
  { reached = async () => {} }: { reached?: ((step: ExchangeStep) => Promise<void>) | undefined } = {},
): Exchange {
  const scratchOf = (database: string) => `${database}_new`;

  async function prepare(
    home: string,
    target: Target,
    owner: { uid: number; gid: number },
  ): Promise<Workshop> {
    await recover(home);
    const folder = join(home, WORKSHOP);
    await mkdir(folder, { mode: 0o711 });
    await writeState(folder, { phase: 'preparing', ...target });
    for (const name of FOLDERS) {
      await mkdir(join(folder, name), { mode: 0o700 });
      await lchown(join(folder, name), owner.uid, owner.gid);
    }
    const database = scratchOf(target.database);
    await databases.drop(database, target.unixUser);
    await databases.create(database, target.unixUser);
    // A website may have lost its own, which is what it is restored for.
    await databases.create(target.database, target.unixUser);
    await reached('prepared');
    return { folder, database };
  }

  async function exchange(home: string, target: Target): Promise<void> {
    const folder = join(home, WORKSHOP);
    await databases.query(
      scratchOf(target.database),
      `CREATE TABLE IF NOT EXISTS ${MARK} (one INT PRIMARY KEY)`,
    );
    await writeState(folder, { phase: 'exchanging', ...target });
    try {
      await reached('begun');
      await finish(home, target);
    } catch (error) {
      // Where the tables have moved, there is only the way forward.
      if (await isTableMoved(target)) throw error;
      await takeBack(home);
      await writeState(folder, { phase: 'preparing', ...target });
      await recover(home);
      throw error;
    }
  }

  async function finish(home: string, target: Target): Promise<void> {
    const folder = join(home, WORKSHOP);
    for (const name of FOLDERS) {
      await putInPlace(home, name);
      await reached(name);
    }
    await syncFolder(folder);
    await syncFolder(home);
    if (!(await isTableDone(target))) {
      await databases.replaceTables(scratchOf(target.database), target.database);
      await reached('tables');
      await databases.query(target.database, `DROP TABLE IF EXISTS ${MARK}`);
      await reached('unmarked');
    }
    await remove(home, target);
  }

  /** Whether the restored tables are no longer where they were loaded. */
  async function isTableMoved(target: Target): Promise<boolean> {
    return !(await hasTable(scratchOf(target.database), MARK));
  }

  /** Whether they are in their place, and nothing is left to be done about them. */
  async function isTableDone(target: Target): Promise<boolean> {
    return (await isTableMoved(target)) && !(await hasTable(target.database, MARK));
  }

  async function hasTable(database: string, table: string): Promise<boolean> {
    if (!(await databases.list()).includes(database)) return false;
    const rows = await databases.query(
      database,
      `SELECT 1 FROM information_schema.TABLES
        WHERE TABLE_SCHEMA = ${textLiteral(database)} AND TABLE_NAME = ${textLiteral(table)}`,
    );
    return rows.length > 0;
  }

  async function recover(home: string): Promise<void> {
    const folder = join(home, WORKSHOP);
    if (!(await exists(folder))) return;
    const found = await readState(folder);
    // Killed before it was written: there is nothing but an empty folder.
    if (found === null) return removeTree(folder);
    if (found.phase === 'exchanging') await finish(home, found);
    else await remove(home, found);
  }

  /** The database first: as long as the workshop is there, it is known that there may be one. */
  async function remove(home: string, { database, unixUser }: Target): Promise<void> {
    await databases.drop(scratchOf(database), unixUser);
    await reached('dropped');
    await removeTree(join(home, WORKSHOP));
  }

  return { prepare, exchange, recover };
}

const oldOf = (name: string) => `${name}.old`;

async function putInPlace(home: string, name: string): Promise<void> {
  const [next, old, place] = [
    join(home, WORKSHOP, name),
    join(home, WORKSHOP, oldOf(name)),
    join(home, name),
  ];
  if (!(await exists(next))) return;
  if (await exists(place)) {
    // With the old one aside already, it is one that somebody made anew, empty, in between.
    if (await exists(old)) await removeTree(place);
    else await rename(place, old);
  }
  await rename(next, place);
}

async function takeBack(home: string): Promise<void> {
  for (const name of FOLDERS) {
    const [next, old, place] = [
      join(home, WORKSHOP, name),
      join(home, WORKSHOP, oldOf(name)),
      join(home, name),
    ];
    if (!(await exists(old))) continue;
    if (await exists(place)) await rename(place, next);
    await rename(old, place);
  }
  await syncFolder(home);
}

async function writeState(folder: string, value: Static<typeof stateSchema>): Promise<void> {
  await writeDurably(join(folder, STATE), JSON.stringify(value));
}

async function readState(folder: string): Promise<Static<typeof stateSchema> | null> {
  const text = await ifThere(readFile(join(folder, STATE), 'utf8'));
  if (text === null) return null;
  const value: unknown = JSON.parse(text);
  if (state.Check(value)) return value;
  throw new Error(
    `${join(folder, STATE)} is not one; look at it, and delete ${folder} if its website is whole`,
  );
}

async function exists(path: string): Promise<boolean> {
  return (await ifThere(lstat(path))) !== null;
}

/** rm(1) goes down by open folders and not by paths: no link of a customer's leads it elsewhere. */
async function removeTree(path: string): Promise<void> {
  await runCommand('/usr/bin/rm', ['-rf', '--one-file-system', '--', path], { timeoutMs: REMOVAL_MS });
}
