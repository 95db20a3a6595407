import { existsSync } from 'node:fs';
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../../../lib/durable-file.ts';
import { RefusedRestoreError } from '../../contract/errors.ts';
import type { RestoredParts } from '../../contract/snapshots.ts';
import type { WebsiteFolders } from '../host-folder/layout.ts';
import { announceDatabase } from './adopted-database.ts';
import { linkTree } from './link-tree.ts';
import { COPY_FOLDER, DATABASE, DATABASE_FOLDER, PLATFORM_COPY_FOLDER, PRIVATE } from './site.ts';

/** Rejects the parts that a kind of website does not have. */
export function requireParts({ files, database }: RestoredParts, hasDatabase: boolean): void {
  if (hasDatabase || (files && typeof database === 'string')) return;
  throw new RefusedRestoreError('Websites on this host have no database. Restore their files.');
}

/**
 * Completes the folder `next` with a restored backup, which then replaces the folder `present`. What is not restored comes from `present`
 * as hard links, so that one exchange of folders is enough. {@link adoptDatabase} follows it. No PHP may use the files meanwhile.
 */
export async function completeRestored(
  next: string,
  present: string,
  { files, database }: RestoredParts,
  wantsDatabase: boolean,
): Promise<void> {
  requireKind(existsSync(join(next, PRIVATE, COPY_FOLDER, DATABASE)), wantsDatabase);
  if (!wantsDatabase) return;
  if (!files) await keepFiles(next, present);
  if (database === 'none') return keepPrivateFolder(next, present);
  await requirePlainDatabase(next);
  await settleDatabase(next);
  await announceDatabase(present, restoredIn(next).database);
}

/** As {@link completeRestored}, of a folder with the present files and chosen ones of a backup. */
export async function completeChosen(
  next: string,
  present: string,
  { database }: RestoredParts,
  wantsDatabase: boolean,
): Promise<void> {
  if (!wantsDatabase || database === 'none') return;
  requireKind(existsSync(join(next, PRIVATE, COPY_FOLDER, DATABASE)), wantsDatabase);
  await requirePlainDatabase(next);
  await settleDatabase(next);
  await announceDatabase(present, restoredIn(next).database);
}

/** Fills a new folder with the present website, without its database. */
export async function keepPresent(next: string, present: string): Promise<void> {
  await linkTree(present, next, new Set([PRIVATE]));
  if (existsSync(join(present, PRIVATE))) await keepPrivateFolder(next, present);
}

/** The folders of a website that is restored into the folder `next`. */
export const restoredIn = (next: string): WebsiteFolders => ({
  files: next,
  database: join(next, PRIVATE, DATABASE_FOLDER),
});

/** Puts the copy of the database in a restored folder where {@link adoptDatabase} takes it. */
async function settleDatabase(files: string): Promise<void> {
  const folder = join(files, PRIVATE);
  const { database } = restoredIn(files);
  await rm(database, { recursive: true, force: true });
  await rename(join(folder, COPY_FOLDER), database);
  await syncFolder(folder);
}

/** Links in place of the database in a backup would lead to that of another website. */
async function requirePlainDatabase(files: string): Promise<void> {
  const folder = join(files, PRIVATE);
  const copy = join(folder, COPY_FOLDER);
  const areFolders = (await lstat(folder)).isDirectory() && (await lstat(copy)).isDirectory();
  if (areFolders && (await lstat(join(copy, DATABASE))).isFile()) return;
  throw new RefusedRestoreError(
    'The database of the backup is not a plain file in its folder. Nothing was restored.',
  );
}

function requireKind(hasDatabase: boolean, wantsDatabase: boolean): void {
  if (hasDatabase === wantsDatabase) return;
  throw new RefusedRestoreError(
    wantsDatabase
      ? 'The backup is of a static website, and this install runs WordPress. Nothing was restored.'
      : 'The backup is of a WordPress, and this install is a static website. Nothing was restored.',
  );
}

/** Everything but the database, and what belongs to it. */
async function keepFiles(next: string, present: string): Promise<void> {
  for (const name of await readdir(next)) {
    if (name !== PRIVATE) await rm(join(next, name), { recursive: true, force: true });
  }
  await linkTree(present, next, new Set([PRIVATE]));
}

/** Fills the private folder of `next` with that of the present website, without what belongs to its database. */
export async function keepPrivateFolder(next: string, present: string): Promise<void> {
  await rm(join(next, PRIVATE), { recursive: true, force: true });
  const passing = new Set(['tmp', COPY_FOLDER, PLATFORM_COPY_FOLDER, DATABASE_FOLDER]);
  await linkTree(join(present, PRIVATE), join(next, PRIVATE), passing);
}
