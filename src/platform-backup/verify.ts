import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { faultOfCopy } from '../database/copy-database.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { readChecked } from './checked-copy.ts';
import { DamagedBackup, databaseFile, MANIFEST_FILE, type Manifest, parseManifest } from './manifest.ts';
import { isNoRoom } from './no-room.ts';
import type { BackupStorage } from './storage.ts';

/** The manifest of a complete backup. Throws OperatorError if there is no such backup, DamagedBackup if it cannot be read. */
export async function readManifest(storage: BackupStorage, name: string): Promise<Manifest> {
  const content = await storage.read(name, { path: MANIFEST_FILE });
  if (content === null) {
    throw new OperatorError(
      `There is no complete backup ${name} in ${storage.address}; "homeport platform backup list" shows them.`,
    );
  }
  const manifest = parseManifest(await text(content), name);
  if (manifest.name !== name) throw new DamagedBackup(`${name} holds the manifest of ${manifest.name}.`);
  return manifest;
}

/**
 * Reads everything back: each file has the size and checksum that the manifest says, and the database can be read. Throws
 * DamagedBackup with the first fault.
 */
export async function verifyPlatformBackup(
  storage: BackupStorage,
  name: string,
  { onProgress, signal }: { onProgress?: (files: number, of: number) => void; signal?: AbortSignal } = {},
): Promise<Manifest> {
  const manifest = await readManifest(storage, name);
  const database = databaseFile(manifest.database.dialect);
  const folder = await mkdtemp(join(tmpdir(), 'homeport-verify-'));
  try {
    for (const [index, file] of manifest.files.entries()) {
      const to = file.path === database ? { to: join(folder, database) } : {};
      await readChecked(storage, name, file, { ...to, signal });
      onProgress?.(index + 1, manifest.files.length);
    }
    await requireDatabase(manifest, join(folder, database), signal);
  } catch (error) {
    if (!isNoRoom(error)) throw error;
    throw new OperatorError(
      `There is no room in ${tmpdir()} for the database of ${name}, which is checked there. ` +
        'Make room, or name another folder in TMPDIR, and try again. The backup may be whole.',
      { cause: error },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return manifest;
}

/** Throws DamagedBackup unless the copy of the database, whose checksum is right, can be read. */
export async function requireDatabase(manifest: Manifest, file: string, signal?: AbortSignal): Promise<void> {
  const { name, database, files } = manifest;
  if (!files.some(({ path }) => path === databaseFile(database.dialect)))
    throw new DamagedBackup(`${name} is damaged: it holds no database.`);
  const fault = await faultOfCopy(database.dialect, file, signal);
  if (fault !== null) throw new DamagedBackup(`The database in ${name} is damaged: ${fault}.`);
}
