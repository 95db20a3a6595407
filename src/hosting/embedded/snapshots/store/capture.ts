import { constants, copyFileSync, existsSync, linkSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { hasCode } from '../../../../lib/error-code.ts';
import { type ChunkIndex, notedIn, readIndex, USED } from './chunk-index.ts';
import { createChunkReader } from './chunk-reader.ts';
import { createFolder, namesIn, realDisk } from './disk.ts';
import { chunksOf, DamagedListError } from './manifest-chunks.ts';
import { DamagedPackError, isPack, markOf } from './pack-file.ts';

/** Readings of the folder for chunks that were moved to another pack meanwhile. */
const TRIES = 5;

/** Links a file, or copies it on a file system without hard links. False if it is gone. */
export type Link = (from: string, to: string) => boolean;

const linkFile: Link = (from, to) => {
  try {
    linkSync(from, to);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    if (!hasCode(error, 'EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK', 'EXDEV')) throw error;
    return copied(from, to);
  }
  return true;
};

function copied(from: string, to: string): boolean {
  try {
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false;
    throw error;
  }
  return true;
}

export interface CaptureOptions {
  /** Manifests of backups, and other files that belong together with them. */
  manifests: readonly string[];
  others: readonly string[];
  /** New folders: for these files, and for the packs. */
  to: string;
  packs: string;
}

/**
 * Captures backups as of one moment in new folders, with the packs of the store `folder` that they need. Their files never change, so
 * links are enough. Backups and prunes by any process may go on: a chunk that a prune moves is found in its new pack, and a backup that
 * is deleted meanwhile is left out.
 *
 * @returns the captured manifests that are damaged, or whose chunks the store does not have
 */
export function capture(
  folder: string,
  { manifests, others, to, packs }: CaptureOptions,
  link: Link = linkFile,
): string[] {
  createFolder(packs);
  const copyOf = (file: string) => join(to, basename(file));
  for (const file of others) link(file, copyOf(file));
  let kept = manifests.filter((manifest) => link(manifest, copyOf(manifest)));
  for (let tried = 1; ; tried++) {
    linkPacks(folder, packs, link);
    const index = readIndex(packs);
    const lacking = kept.filter((manifest) => !hasChunks(copyOf(manifest), packs, index));
    const deleted = lacking.filter((manifest) => !existsSync(manifest));
    for (const manifest of deleted) rmSync(copyOf(manifest));
    kept = kept.filter((manifest) => !deleted.includes(manifest));
    if (lacking.length === 0) {
      removeUnused(packs, index);
      return [];
    }
    const damaged = lacking.filter((manifest) => !deleted.includes(manifest));
    if (damaged.length > 0 && tried >= TRIES) return damaged;
  }
}

/** Links the packs that are not linked yet, and the marks of damaged ones. */
function linkPacks(folder: string, packs: string, link: Link): void {
  const present = new Set(namesIn(packs));
  const names = namesIn(folder);
  for (const name of names.filter(isPack)) {
    if (present.has(name) || !link(join(folder, name), join(packs, name))) continue;
    if (names.includes(markOf(name))) link(join(folder, markOf(name)), join(packs, markOf(name)));
  }
}

/** Whether the packs have all chunks of a manifest, which are noted. */
function hasChunks(manifest: string, packs: string, index: ChunkIndex): boolean {
  const reader = createChunkReader(packs, index, realDisk);
  let isWhole = true;
  try {
    for (const { id, length } of chunksOf(manifest, reader)) {
      index.note(id, USED);
      if (index.find(id)?.length !== length) isWhole = false;
    }
  } catch (error) {
    if (!(error instanceof DamagedListError || error instanceof DamagedPackError)) throw error;
    return false;
  } finally {
    reader.close();
  }
  return isWhole;
}

/** Packs of backups that are being made, and second copies of chunks. */
function removeUnused(folder: string, { packs }: ChunkIndex): void {
  for (const name of namesIn(folder)) {
    const pack = packs.get(name) ?? packs.get(name.slice(0, -markOf('').length));
    if (pack === undefined || notedIn(pack, USED).next().done === true) rmSync(join(folder, name));
  }
}
