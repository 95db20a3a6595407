import { readFileSync, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { mapConcurrent } from '../../../lib/concurrency.ts';
import { codeOf } from '../../../lib/error-code.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { parseUuid } from '../../../lib/ids.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { type BackupFiles, backupFilesOf, backupOfManifest, type DamagedBackup } from './backup-files.ts';
import { DamagedArchiveError } from './damaged-archive.ts';
import { openStore } from './store/store.ts';
import { endsOfManifest, readManifestEnds } from './stored-manifest.ts';

/** Known damage of the backups of an install. */
export interface DamagedBackups {
  installId: string;
  /** Backups that cannot be read whole. Nothing says what they need, so no chunk of the install is deleted. */
  unreadable: DamagedBackup[];
  /** Packs in which a reading has found a damaged chunk. */
  packs: number;
  /** Why its folder cannot be read, for example because a file is in its place; null if it can. */
  fault: string | null;
}

const INSTALLS_AT_ONCE = 8;

/** Looks through the manifests, the notes of prunings and the marks of packs in the folder of all backups. Reads no contents of files. */
export async function damagedBackups(folder: string): Promise<DamagedBackups[]> {
  const names = (await ifThere(readdir(folder))) ?? [];
  const installs = names.filter((name) => parseUuid(name) === name);
  const found = await mapConcurrent(installs, INSTALLS_AT_ONCE, (id) => damagedOf(folder, id));
  return found.filter(({ unreadable, packs, fault }) => unreadable.length > 0 || packs > 0 || fault !== null);
}

async function damagedOf(folder: string, installId: string): Promise<DamagedBackups> {
  try {
    return { ...(await damageIn(folder, installId)), fault: null };
  } catch (error) {
    // It must not hide the damage of other installs.
    if (codeOf(error) === undefined) throw error;
    return { installId, unreadable: [], packs: 0, fault: messageOf(error) };
  }
}

async function damageIn(folder: string, installId: string): Promise<Omit<DamagedBackups, 'fault'>> {
  const files = backupFilesOf(folder, installId);
  const notes = await files.notedDamaged();
  const noted = new Set(notes.map(({ id }) => id));
  const unreadable: DamagedBackup[] = [];
  for (const note of notes) if (await isStillDamaged(files, note.id)) unreadable.push(note);
  for (const manifest of await files.manifests()) {
    const id = backupOfManifest(basename(manifest));
    if (noted.has(id)) continue;
    try {
      // A backup can be deleted meanwhile.
      await ifThere(requireReadable(manifest));
    } catch (error) {
      if (!(error instanceof DamagedArchiveError)) throw error;
      unreadable.push({ id, reason: error.message });
    }
  }
  return { installId, unreadable, packs: (await files.marks()).length };
}

/** A backup can have been repaired from a platform backup since the pruning that noted it. */
async function isStillDamaged(files: BackupFiles, backupId: string): Promise<boolean> {
  const store = openStore(files.store);
  try {
    await ifThere(store.check(files.manifestOf(backupId), false));
    return false;
  } catch (error) {
    if (!(error instanceof DamagedArchiveError)) throw error;
    return true;
  } finally {
    await store.close();
  }
}

/** Manifests have few bytes, unless an earlier version made them. */
const SMALL_BYTES = 1024 * 1024;

/** Reads a small manifest at once: with thousands of backups, waiting for each piece would cost more than reading it. */
async function requireReadable(manifest: string): Promise<void> {
  if (statSync(manifest).size <= SMALL_BYTES) endsOfManifest(readFileSync(manifest));
  else await readManifestEnds(manifest);
}
