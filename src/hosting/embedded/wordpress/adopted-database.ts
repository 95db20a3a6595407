import { lstat, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { Layout } from '../host-folder/layout.ts';
import { requirePlainFolder } from '../host-folder/plain-folder.ts';
import { DATABASE_FOLDER, PRIVATE } from './site.ts';

/** Beside the document root: a restored document root contains the database that is to replace the present one. */
const RESTORED = '.restored-database';
/** The replaced database. */
const FORMER = '.former-database';

/** Says, before a restored document root replaces `files`, that it contains a database. */
export async function announceDatabase(files: string): Promise<void> {
  const folder = dirname(files);
  await writeFile(join(folder, RESTORED), '', { mode: 0o600 });
  await syncFolder(folder);
}

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
  const isRestored = await exists(mark);
  if ((isRestored || !(await exists(database))) && (await isFolder(inside)) && (await isFolder(left))) {
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
  if (!isRestored) return;
  await rm(former, { recursive: true, force: true });
  await rm(mark);
}

const exists = async (path: string): Promise<boolean> => (await ifThere(lstat(path))) !== null;

const isFolder = async (path: string): Promise<boolean> =>
  (await ifThere(lstat(path)))?.isDirectory() === true;
