import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { syncFolder } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { backupFilesOf } from './backup-files.ts';
import { DamagedPackError, isPack, markOf, readPackList } from './store/pack-file.ts';

/** Files of an install's backups that are elsewhere, by their paths below the folder of the install's backups. */
export interface OfferedBackups {
  paths: ReadonlySet<string>;
  /** Fetches one of the files into a new file, and verifies it. */
  fetch(path: string, to: string): Promise<void>;
}

/**
 * Puts lost backups of an install back into the folder of all backups, with the packs that are not there or are damaged. A pack is there
 * before the manifests that need it, so a kill leaves whole backups, and packs that the next pruning deletes. Marks of damage stay, because
 * the offered pack can have the same damage: a pruning removes that of a pack which it has read whole. Returns the backups that are
 * there again.
 *
 * @param scratch an empty folder on the same disk
 */
export async function returnBackups(
  folder: string,
  installId: string,
  wanted: readonly string[],
  { paths, fetch }: OfferedBackups,
  scratch: string,
): Promise<string[]> {
  const files = backupFilesOf(folder, installId);
  const held = new Set(await files.ids());
  const returned = wanted.filter((id) => !held.has(id) && files.pathsOf(id).some((path) => paths.has(path)));
  if (returned.length === 0) return [];
  await mkdir(files.store, { recursive: true, mode: 0o700 });
  const put = async (path: string): Promise<void> => {
    const fetched = join(scratch, basename(path));
    await fetch(path, fetched);
    await rename(fetched, join(files.folder, path));
  };
  await putPacks();
  for (const path of returned.flatMap((id) => files.pathsOf(id))) if (paths.has(path)) await put(path);
  await syncFolder(files.folder);
  const there = new Set(await files.ids());
  return returned.filter((id) => there.has(id));

  async function putPacks(): Promise<void> {
    const present = new Set((await ifThere(readdir(files.store))) ?? []);
    const folderOfPacks = basename(files.store);
    const added: string[] = [];
    try {
      for (const path of paths) {
        const name = basename(path);
        if (path !== `${folderOfPacks}/${name}` || !isPack(name)) continue;
        const isMarked = present.has(markOf(name));
        if (present.has(name) && !isMarked && hasReadableList(files.store, name)) continue;
        if (!present.has(name)) added.push(join(files.store, name));
        // First: a damaged pack must not count as sound.
        if (!isMarked && paths.has(markOf(path))) await put(markOf(path));
        await put(path);
      }
    } catch (error) {
      // They would fill the disk for nothing. Other packs stay: backups that are still missing may need them.
      for (const pack of added) for (const file of [pack, markOf(pack)]) await rm(file, { force: true });
      throw error;
    }
    await syncFolder(files.store);
  }
}

function hasReadableList(store: string, pack: string): boolean {
  try {
    readPackList(store, pack);
    return true;
  } catch (error) {
    if (!(error instanceof DamagedPackError)) throw error;
    return false;
  }
}
