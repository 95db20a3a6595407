import { existsSync } from 'node:fs';
import { lstat, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder, writeDurably } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { Layout } from '../host-folder/layout.ts';
import { requirePlainFolder } from '../host-folder/plain-folder.ts';
import { DATABASE_FOLDER, PRIVATE } from './site.ts';

/** Beside the document root: a restored document root contains the database that is to replace the present one. */
const RESTORED = '.restored-database';
/** The replaced database. */
const FORMER = '.former-database';

/** Says, before a restored document root replaces `files`, that it contains the folder `database`. */
export async function announceDatabase(files: string, database: string): Promise<void> {
  // If the restore fails after this, the owner's folder of that name must not be taken for it.
  await writeDurably(join(dirname(files), RESTORED), await inodeOf(database));
}

/** Whether {@link adoptDatabase} has something to complete. */
export const isDatabaseAnnounced = (layout: Pick<Layout, 'installOf'>, installId: string): boolean =>
  existsSync(join(layout.installOf(installId), RESTORED));

/**
 * Moves the database that a restore has left in the document root into its own folder. Does the same for a website of a version before
 * 0.3, which had it in the document root. Without either, it does nothing, so that an owner who puts a folder there replaces nothing. Continues
 * after an interruption at any step. No PHP may run on the website.
 */
export async function adoptDatabase(
  layout: Pick<Layout, 'installOf' | 'filesOf' | 'databaseOf'>,
  installId: string,
): Promise<void> {
  const folder = layout.installOf(installId);
  const database = layout.databaseOf(installId);
  const mark = join(folder, RESTORED);
  const former = join(folder, FORMER);
  const inside = join(layout.filesOf(installId), PRIVATE);
  const left = join(inside, DATABASE_FOLDER);
  const announced = await ifThere(readFile(mark, 'utf8'));
  const isLeft = (await isFolder(inside)) && (await isFolder(left));
  if (isLeft && (!(await exists(database)) || (await inodeOf(left)) === announced)) {
    if (await exists(database)) {
      await rm(former, { recursive: true, force: true });
      await rename(database, former);
    }
    await rename(left, database);
    // SFTP can have replaced it since it was looked at.
    await requirePlainFolder(database);
    await syncFolder(inside);
    await syncFolder(folder);
  }
  if (announced === null) return;
  await rm(former, { recursive: true, force: true });
  await rm(mark);
}

const inodeOf = async (path: string): Promise<string> => String((await lstat(path, { bigint: true })).ino);

const exists = async (path: string): Promise<boolean> => (await ifThere(lstat(path))) !== null;

const isFolder = async (path: string): Promise<boolean> =>
  (await ifThere(lstat(path)))?.isDirectory() === true;
