import { lchown, lstat, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { syncFolder, writeDurably } from '../../../lib/durable-file.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { ALL_PARTS, type RestoredParts } from '../../contract/snapshots.ts';
import {
  type Choice,
  choiceOf,
  chosenIn,
  type Placement,
  placeChosen,
  requirePlaceable,
  takeBackChosen,
} from '../../websites/backup-contents/place-chosen.ts';
import type { Databases } from '../daemons/databases.ts';
import { textLiteral } from '../daemons/sql.ts';
import { setFolderMode, WEBSITE_MODES } from '../isolation/owned-folder.ts';
import type { ProjectQuotas } from '../isolation/project-quotas.ts';

/** Folders of a website that a restore replaces. */
const FOLDERS = ['htdocs', 'private'] as const;
/** In the home, owned by root: the install can list it, but write only to the folders created for it inside. */
const STAGING = '.restore';
const STATE = 'state.json';
/** In the home, owned by root: the record of the last replacement that had one. */
const RECORD = '.replaced.json';
/** A table that marks the restored database while it is put in place. */
const MARK = 'homeport_restored';
const REMOVAL_MS = HOUR_MS;

const stateSchema = Type.Object({
  /** `preparing`: the website is untouched. `exchanging`: all is ready, and the replacement must be completed. */
  phase: Type.Union([Type.Literal('preparing'), Type.Literal('exchanging')]),
  database: Type.String(),
  unixUser: Type.String(),
  record: Type.Optional(Type.String()),
  /** The snapshot that the staged files are whole from, for changes that follow. */
  base: Type.Optional(Type.String()),
  /** Absent in files of earlier versions, which always replaced everything. */
  parts: Type.Optional(
    Type.Object({
      files: Type.Boolean(),
      paths: Type.Optional(Type.Array(Type.String())),
      database: Type.Union([Type.Literal('all'), Type.Literal('none'), Type.Array(Type.String())]),
    }),
  ),
});
const state = Compile(stateSchema);
type State = Static<typeof stateSchema>;

/** The database of the website, and what is replaced. */
export interface Target {
  database: string;
  unixUser: string;
  /** Default: everything. */
  parts?: RestoredParts | undefined;
  /** The folders that are replaced if files are. Default: both. */
  folders?: readonly (typeof FOLDERS)[number][];
  /** Whether {@link WebsiteReplacement.prepareDatabase} creates the second database, after long work without it. */
  databaseLater?: boolean;
  /** A text that {@link WebsiteReplacement.readRecord} returns from the exchange until the next one. */
  record?: string;
}

/** The restored website beside the present one, until it replaces it. */
export interface StagedWebsite {
  folder: string;
  /** Database that the dump is loaded into; missing if the database is not restored. */
  database: string;
}

export interface WebsiteReplacement {
  /**
   * Creates a staging folder, and in it what the install fills: `htdocs` and `private`, an empty second database, or both.
   */
  prepare(home: string, target: Target, owner: { uid: number; gid: number }): Promise<StagedWebsite>;
  /** Notes that the staged files are whole, from this snapshot. They stay until {@link replace} or {@link recover}. */
  noteBase(home: string, backupId: string): Promise<void>;
  /** The staged website with the whole files of this snapshot; null without it. */
  stagedFrom(home: string, target: Target, backupId: string): Promise<StagedWebsite | null>;
  /** Creates the second database, empty, of a prepared replacement. */
  prepareDatabase(target: Target): Promise<void>;
  /**
   * Replaces the present files and tables by the staged ones. A failure leaves the present ones, unless it comes so late that
   * only {@link recover} can complete the replacement.
   */
  replace(home: string, target: Target): Promise<void>;
  /** Rejects with a RefusedRestoreError if a staged file with one of these paths would replace an entry of another kind. */
  requirePlaceable(home: string, paths: readonly string[]): Promise<void>;
  /** Completes or undoes an interrupted replacement, and removes the staging folder. Cheap without one. */
  recover(home: string): Promise<void>;
  /** The record of the last replacement; null if it had none. */
  readRecord(home: string): Promise<string | null>;
}

/** Steps in order; tests interrupt after each. */
export const REPLACEMENT_STEPS = [
  'prepared',
  'begun',
  'htdocs',
  'private',
  'tables',
  'unmarked',
  'dropped',
] as const;
export type ReplacementStep = (typeof REPLACEMENT_STEPS)[number];

/**
 * A replacement takes two renames per folder and one for all tables. What exists shows which of them are done: a folder still
 * in staging was not moved, and tables were moved if the restored ones are no longer in the second database. A killed host
 * continues from there.
 */
export function createWebsiteReplacement(
  databases: Databases,
  quotas: Pick<ProjectQuotas, 'suspend' | 'resume'>,
  { reached = async () => {} }: { reached?: ((step: ReplacementStep) => Promise<void>) | undefined } = {},
): WebsiteReplacement {
  const scratchOf = (database: string) => `${database}_new`;

  async function prepare(
    home: string,
    target: Target,
    owner: { uid: number; gid: number },
  ): Promise<StagedWebsite> {
    await recover(home);
    const folder = join(home, STAGING);
    // Both websites count until one is deleted. If the host is killed, its next start sets the limits.
    await quotas.suspend(home);
    try {
      await mkdir(folder, { mode: 0o711 });
    } catch (error) {
      await quotas.resume(home);
      throw error;
    }
    const { files, database: tables } = target.parts ?? ALL_PARTS;
    await writeState(folder, stateOf('preparing', target));
    for (const name of files ? (target.folders ?? FOLDERS) : []) {
      await mkdir(join(folder, name), { mode: 0o700 });
      await lchown(join(folder, name), owner.uid, owner.gid);
    }
    if (tables !== 'none' && target.databaseLater !== true) await prepareDatabase(target);
    await reached('prepared');
    return { folder, database: scratchOf(target.database) };
  }

  async function prepareDatabase(target: Target): Promise<void> {
    const database = scratchOf(target.database);
    await databases.drop(database, target.unixUser);
    await databases.create(database, target.unixUser);
    // The website may have lost its own files or database, which is why it is restored.
    await databases.create(target.database, target.unixUser);
  }

  async function replace(home: string, target: Target): Promise<void> {
    const folder = join(home, STAGING);
    if (hasTables(target)) {
      await databases.query(
        scratchOf(target.database),
        `CREATE TABLE IF NOT EXISTS ${MARK} (one INT PRIMARY KEY)`,
      );
    }
    await writeState(folder, stateOf('exchanging', target));
    try {
      await reached('begun');
      await finish(home, target);
    } catch (error) {
      // From there on, the replacement can only be completed.
      if (await isPastReturn(folder, target)) throw error;
      await takeBack(home, target);
      await writeState(folder, stateOf('preparing', target));
      await recover(home);
      throw error;
    }
  }

  async function finish(home: string, target: Target): Promise<void> {
    const folder = join(home, STAGING);
    for (const name of FOLDERS) {
      if (target.parts?.paths === undefined) await putInPlace(home, name);
      else await eachChosen(home, target.parts.paths, name, placeChosen);
      await reached(name);
    }
    await syncFolder(folder);
    await syncFolder(home);
    if (!hasTables(target)) {
      // Everything is in place; only the former folders are left to delete.
      await writeState(folder, stateOf('preparing', target));
    } else if (!(await isTableDone(target))) {
      await databases.replaceTables(scratchOf(target.database), target.database, tablesOf(target));
      await reached('tables');
      await databases.query(target.database, `DROP TABLE IF EXISTS ${MARK}`);
      await reached('unmarked');
    }
    if (target.record !== undefined) await writeDurably(join(home, RECORD), target.record);
    else await rm(join(home, RECORD), { force: true });
    await remove(home, target);
  }

  /** Whether restored tables are in place, or, without any, whether the former folders may be incomplete already. */
  async function isPastReturn(folder: string, target: Target): Promise<boolean> {
    if (hasTables(target)) return isTableMoved(target);
    return (await readState(folder))?.phase !== 'exchanging';
  }

  /** Whether the restored tables have left the database they were loaded into. */
  async function isTableMoved(target: Target): Promise<boolean> {
    return !(await hasTable(scratchOf(target.database), MARK));
  }

  /** Whether they are in place, with nothing left to do. */
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
    const folder = join(home, STAGING);
    if (!(await exists(folder))) return;
    const found = await readState(folder);
    // Killed before the state was written: the folder is empty.
    if (found === null) return removeStaging(home);
    if (found.phase === 'exchanging') await finish(home, found);
    else await remove(home, found);
  }

  /** The database first: while the staging folder exists, there may be a second database. */
  async function remove(home: string, { database, unixUser }: Target): Promise<void> {
    await databases.drop(scratchOf(database), unixUser);
    await reached('dropped');
    await removeStaging(home);
  }

  async function removeStaging(home: string): Promise<void> {
    await removeTree(join(home, STAGING));
    await quotas.resume(home);
  }

  return {
    prepare,
    async noteBase(home, backupId) {
      const folder = join(home, STAGING);
      const found = await readState(folder);
      if (found === null) throw new Error(`${folder} is gone`);
      await writeState(folder, { ...found, base: backupId });
    },
    async stagedFrom(home, { database }, backupId) {
      const folder = join(home, STAGING);
      const found = await readState(folder);
      if (found?.phase !== 'preparing' || found.base !== backupId) return null;
      return { folder, database: scratchOf(database) };
    },
    prepareDatabase,
    replace,
    async requirePlaceable(home, paths) {
      for (const name of FOLDERS) {
        await eachChosen(home, paths, name, (placement, choice) => requirePlaceable(placement, choice, name));
      }
    },
    recover,
    readRecord: (home) => ifThere(readFile(join(home, RECORD), 'utf8')),
  };
}

const hasTables = ({ parts = ALL_PARTS }: Target) => parts.database !== 'none';

/** The tables to replace, with the mark; null for all. */
function tablesOf({ parts = ALL_PARTS }: Target): string[] | null {
  return typeof parts.database === 'string' ? null : [...parts.database, MARK];
}

function stateOf(phase: State['phase'], { database, unixUser, record, parts = ALL_PARTS }: Target): State {
  const { files, paths, database: tables } = parts;
  return {
    phase,
    database,
    unixUser,
    ...(record === undefined ? {} : { record }),
    parts: {
      files,
      ...(paths === undefined ? {} : { paths: [...paths] }),
      database: typeof tables === 'string' ? tables : [...tables],
    },
  };
}

const oldOf = (name: string) => `${name}.old`;

async function putInPlace(home: string, name: (typeof FOLDERS)[number]): Promise<void> {
  const [next, old, place] = [join(home, STAGING, name), join(home, STAGING, oldOf(name)), join(home, name)];
  if (!(await exists(next))) return;
  // A backup or an archive can have brought another one.
  await setFolderMode(next, WEBSITE_MODES[name]);
  if (await exists(place)) {
    // The old folder was already moved, so this is an empty one created in the meantime.
    if (await exists(old)) await removeTree(place);
    else await rename(place, old);
  }
  await rename(next, place);
}

/** Calls `work` with a folder of a website if anything in it is chosen. */
async function eachChosen(
  home: string,
  paths: readonly string[],
  name: (typeof FOLDERS)[number],
  work: (placement: Placement, choice: Choice) => Promise<void>,
): Promise<void> {
  const choice = chosenIn(choiceOf(paths), name);
  if (choice === undefined) return;
  const [staged, aside] = [join(home, STAGING, name), join(home, STAGING, oldOf(name))];
  await work({ staged, live: join(home, name), aside }, choice);
}

async function takeBack(home: string, { parts }: Target): Promise<void> {
  for (const name of FOLDERS) {
    if (parts?.paths !== undefined) {
      await eachChosen(home, parts.paths, name, takeBackChosen);
      continue;
    }
    const [next, old, place] = [
      join(home, STAGING, name),
      join(home, STAGING, oldOf(name)),
      join(home, name),
    ];
    if (!(await exists(old))) continue;
    if (await exists(place)) await rename(place, next);
    await rename(old, place);
  }
  await syncFolder(home);
}

async function writeState(folder: string, value: State): Promise<void> {
  await writeDurably(join(folder, STATE), JSON.stringify(value));
}

async function readState(folder: string): Promise<State | null> {
  const text = await ifThere(readFile(join(folder, STATE), 'utf8'));
  if (text === null) return null;
  const value: unknown = JSON.parse(text);
  if (state.Check(value)) return value;
  throw new Error(
    `${join(folder, STATE)} is invalid; look at it, and delete ${folder} if its website is complete`,
  );
}

async function exists(path: string): Promise<boolean> {
  return (await ifThere(lstat(path))) !== null;
}

/** rm(1) descends by open folders and not by paths: no link of a customer misleads it. */
async function removeTree(path: string): Promise<void> {
  await runCommand('/usr/bin/rm', ['-rf', '--one-file-system', '--', path], { timeoutMs: REMOVAL_MS });
}
