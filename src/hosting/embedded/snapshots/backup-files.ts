import { lstat, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';
import { syncFolder, writeDurably } from '../../../lib/durable-file.ts';
import { isFullDisk } from '../../../lib/full-disk.ts';
import { parseUuid } from '../../../lib/ids.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { removeTree } from './archive-exchange.ts';
import type { ArchiveFiles } from './archive-files.ts';
import { isGone } from './archive-tree.ts';
import { archivedBackup } from './archived-backup.ts';
import type { HeldBackup } from './held-backup.ts';
import { marksIn } from './store/pack-file.ts';
import { storedBackup } from './stored-backup.ts';

const MANIFEST = '.backup.jsonl';
const ARCHIVE = '.tar.zst';
const ARCHIVE_MANIFEST = '.manifest.jsonl';
const STORE = 'packs';
const DAMAGED = 'damaged.json';

/** A backup that cannot be read whole. `reason` continues a sentence. */
const DamagedBackup = Type.Object({ id: Type.String(), reason: Type.String() });
export type DamagedBackup = Static<typeof DamagedBackup>;
const DamagedBackups = Type.Array(DamagedBackup);

/** The backup of a manifest, by the name of its file. */
export const backupOfManifest = (name: string): string => name.slice(0, -MANIFEST.length);

/**
 * The files of the backups of one install:
 *
 * | name | content |
 * |---|---|
 * | `<backup id>.backup.jsonl` | the manifest of a backup (stored-manifest.ts), which exists if this does |
 * | `packs/` | the contents of all these backups (store/chunk-store.ts) |
 * | `damaged.json` | backups that the last pruning could not read, so that it deleted nothing |
 * | `<backup id>.tar.zst`, `<backup id>.manifest.jsonl` | a backup of an earlier version, which exists if its archive does |
 */
export interface BackupFiles {
  folder: string;
  store: string;
  manifestOf(backupId: string): string;
  /** The backup with this id; null if it is missing. */
  held(backupId: string): Promise<HeldBackup | null>;
  /** Paths of the files of a backup, except its packs. A backup exists once the last one does that it has. */
  pathsOf(backupId: string): string[];
  /** Ids of all backups. */
  ids(): Promise<string[]>;
  /** Manifests of the backups whose contents are in the store. */
  manifests(): Promise<string[]>;
  /** The marks of the damaged packs of the store. */
  marks(): Promise<string[]>;
  /** Notes the backups that pruning could not read; none: it could read all. */
  noteDamaged(backups: readonly DamagedBackup[]): Promise<void>;
  /** The noted backups that still exist. */
  notedDamaged(): Promise<DamagedBackup[]>;
  /** Deletes a backup, but not its chunks. Returns whether there is a store: it may have chunks of this or of an interrupted deletion. */
  remove(backupId: string): Promise<boolean>;
  /** Deletes a damaged archive that a new backup replaces. */
  removeArchive(backupId: string): Promise<void>;
  /** Removes leftovers of interrupted runs for this backup. */
  removeHalfMade(backupId: string): Promise<void>;
}

export function backupFilesOf(folder: string, installId: string): BackupFiles {
  const own = join(folder, canonicalId(installId));
  const store = join(own, STORE);
  const manifestOf = (backupId: string) => join(own, `${canonicalId(backupId)}${MANIFEST}`);
  const archiveOf = (backupId: string): ArchiveFiles => ({
    archive: join(own, `${canonicalId(backupId)}${ARCHIVE}`),
    manifest: join(own, `${canonicalId(backupId)}${ARCHIVE_MANIFEST}`),
  });
  const names = async (): Promise<string[]> => (await ifThere(readdir(own))) ?? [];

  return {
    folder: own,
    store,
    manifestOf,
    async held(backupId) {
      const identity = { installId, backupId };
      if (await exists(manifestOf(backupId))) return storedBackup(manifestOf(backupId), store, identity);
      const archive = archiveOf(backupId);
      return (await exists(archive.archive)) ? archivedBackup(archive, identity) : null;
    },
    pathsOf: (backupId) =>
      [ARCHIVE_MANIFEST, ARCHIVE, MANIFEST].map((ending) => `${canonicalId(backupId)}${ending}`),
    async ids() {
      const all = await names();
      const ids = [MANIFEST, ARCHIVE].flatMap((ending) =>
        all.filter((name) => name.endsWith(ending)).map((name) => name.slice(0, -ending.length)),
      );
      return [...new Set(ids)];
    },
    async manifests() {
      return (await names()).filter((name) => name.endsWith(MANIFEST)).map((name) => join(own, name));
    },
    marks: async () => marksIn((await ifThere(readdir(store))) ?? []).present,
    async noteDamaged(backups) {
      const file = join(own, DAMAGED);
      if (backups.length === 0) return rm(file, { force: true });
      await writeDurably(file, JSON.stringify(backups)).catch((error: unknown) => {
        // The note can wait until there is room. What was done meanwhile must not fail.
        if (!isFullDisk(error)) throw error;
      });
    },
    async notedDamaged() {
      const text = await ifThere(readFile(join(own, DAMAGED), 'utf8'));
      const noted = text === null ? [] : parsedNote(text);
      const all = new Set(await names());
      return noted.filter(({ id }) => all.has(`${id}${MANIFEST}`));
    },
    async remove(backupId) {
      const isStored = await exists(manifestOf(backupId));
      await rm(manifestOf(backupId), { force: true });
      await removeArchive(backupId);
      await removeHalfMade(backupId);
      // A power cut must not bring a manifest back whose chunks are gone.
      if (isStored) await syncFolder(own);
      return isStored || (await exists(store));
    },
    removeArchive,
    removeHalfMade,
  };

  async function removeArchive(backupId: string): Promise<void> {
    for (const file of Object.values(archiveOf(backupId))) await rm(file, { force: true });
  }

  async function removeHalfMade(backupId: string): Promise<void> {
    for (const name of await names()) {
      if (name.startsWith(`.${backupId}.`)) await removeTree(join(own, name));
    }
  }
}

/** The next pruning writes it again, so one that was cut off says nothing. */
function parsedNote(text: string): DamagedBackup[] {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(DamagedBackups, value) ? value : [];
  } catch {
    return [];
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (isGone(error)) return false;
    throw error;
  }
}

/** Ids become file names, so only UUIDs are accepted. */
export function canonicalId(id: string): string {
  if (parseUuid(id) !== id) throw new PermanentHostError(`${JSON.stringify(id)} is not a lower-case UUID.`);
  return id;
}
