import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { upgradeFiles } from '../../../app/upgrade-copy.ts';
import type { Config } from '../../../config/config.ts';
import { openDatabase, SQLITE_FILE } from '../../../database/open.ts';
import { rootMessageOf } from '../../../lib/error-message.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import { PROGRAM_FOLDER } from '../../../lib/own-command.ts';
import { createQuietLog } from '../../platform/quiet-log.ts';
import { isOneSystem, missingRoom, type Need } from './room.ts';
import { upgradePaths } from './state.ts';

/** Sizes of what an upgrade writes, in bytes. */
export interface Sizes {
  /** Of the package's file, unless it is there already. */
  packageBytes: number;
  /** Of the new program on the disk. */
  nextBytes: number;
  /** Of the present program on the disk. */
  formerBytes: number;
}

/** The database of a control plane that an upgrade restarts. */
export interface StoredData {
  config: Pick<Config, 'dataDir' | 'databaseUrl'>;
  /** Where the platform is backed up; null if that is no folder of this machine. */
  backups: string | null;
}

/**
 * Throws OperatorError unless each disk has room for what an upgrade writes there. Called before it writes anything, because a disk that becomes
 * full in the middle ends a version that runs. `data`: null if the database is not copied. `isIgnored`: only warns.
 */
export async function requireRoom(
  sizes: Sizes,
  data: StoredData | null,
  { isIgnored = false } = {},
): Promise<void> {
  const paths = upgradePaths();
  const isLinked = await isOneSystem(paths.tree, PROGRAM_FOLDER);
  const missing = await missingRoom([
    ...programNeeds(sizes, { ...paths, isLinked }),
    ...(data === null ? [] : await databaseNeeds(data)),
  ]);
  if (missing.length === 0) return;
  if (isIgnored)
    process.stdout.write(`==> ${missing.join(' ')} The upgrade goes on, because of --ignore-room.\n`);
  else
    throw new OperatorError(
      `${missing.join(' ')} Make room. Nothing was changed. If you know that it is enough, "homeport upgrade --ignore-room" goes on: ` +
        'a disk that becomes full can end the service until you make room.',
    );
}

/**
 * dpkg unpacks all files of a version before it deletes those of the other, also in a return. The package that is made of the present program is
 * smaller than half of the program, and dpkg-deb writes it twice. `isLinked`: whether the kept files are links, so that they stay on the disk of
 * the program.
 */
export const programNeeds = (
  { packageBytes, nextBytes, formerBytes }: Sizes,
  { packages, tree, isLinked }: { packages: string; tree: string; isLinked: boolean },
): Need[] => [
  { folder: packages, bytes: packageBytes },
  { folder: tree, bytes: isLinked ? formerBytes / 2 : 2 * formerBytes },
  { folder: PROGRAM_FOLDER, bytes: isLinked ? nextBytes + formerBytes : nextBytes },
];

/** A copy for the return and what a migration writes, and the platform backup. */
export async function databaseNeeds({ config, backups }: StoredData): Promise<Need[]> {
  const bytes =
    config.databaseUrl === null
      ? ((await ifThere(stat(join(config.dataDir, SQLITE_FILE))))?.size ?? 0)
      : await dumpBytes(config);
  // PostgreSQL's own files can be on another machine.
  const copies = config.databaseUrl === null ? 2 : 1;
  const own = { folder: upgradeFiles(config).folder, bytes: copies * bytes };
  return backups === null ? [own] : [own, { folder: backups, bytes }];
}

/**
 * A dump has no indexes and is compressed. Of a platform with 20,000 installs, it had a quarter of the bytes of its tables, and of random texts
 * and bytes nearly half.
 */
async function dumpBytes(config: StoredData['config']): Promise<number> {
  const database = openDatabase(config, await createQuietLog({ logLevel: 'silent' }));
  try {
    const { rows } = await sql<{ size: string }>`
      select coalesce(sum(pg_table_size(oid)), 0)::text as size from pg_class
      where relkind = 'r' and relnamespace not in (select oid from pg_namespace where nspname in ('pg_catalog', 'information_schema'))`.execute(
      database.reader,
    );
    return Number(rows[0]?.size ?? 0) / 2;
  } catch (error) {
    // For example, PostgreSQL lets only the service's user in.
    process.stdout.write(
      `==> The size of the database is unknown, so its room is not checked: ${rootMessageOf(error)}\n`,
    );
    return 0;
  } finally {
    await database.close();
  }
}
