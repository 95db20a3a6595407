import type { Snapshot } from '../../contract/snapshots.ts';
import type { ContentsWriter, IndexedEntry } from '../../websites/backup-contents/contents-file.ts';
import { sparseWriter } from '../../websites/backup-contents/sparse-content.ts';
import { DamagedArchiveError, isEntry, type ManifestEntry, openManifest } from './archive-manifest.ts';
import { type ArchiveIdentity, readFirstItems } from './archive-read.ts';
import { isGone } from './archive-tree.ts';
import type { ArchiveFiles } from './archive-write.ts';
import { partsOf } from './sparse-file.ts';

export interface IndexOptions {
  /** What belongs to the host. */
  isHidden(path: string): boolean;
  signal?: AbortSignal;
}

/** Lists an archive in an index by its manifest, which it verifies. Places are numbers of entries. Errors: DamagedArchiveError. */
export async function indexArchive(
  files: ArchiveFiles,
  identity: ArchiveIdentity,
  writer: ContentsWriter,
  { isHidden, signal }: IndexOptions,
): Promise<Snapshot> {
  const manifest = await openManifest(files.manifest).catch((error: unknown) => {
    throw isGone(error) ? new DamagedArchiveError('its manifest is missing') : error;
  });
  try {
    const { header } = manifest;
    if (header.install_id !== identity.installId || header.backup_id !== identity.backupId) {
      throw new DamagedArchiveError('its manifest is that of another snapshot');
    }
    for (let place = 0; ; place += 1) {
      signal?.throwIfAborted();
      const record = await manifest.next();
      if (!isEntry(record)) {
        return { bytes: record.archive_bytes, files: record.files, sha256: record.archive_sha256 };
      }
      const isSuperseded = record.type === 'file' && record.superseded === true;
      if (record.path === '.' || isSuperseded || isHidden(record.path)) continue;
      writer.add(indexed(record, place));
    }
  } finally {
    manifest.close();
  }
}

function indexed(entry: ManifestEntry, place: number): IndexedEntry {
  return {
    path: entry.path,
    type: entry.type === 'directory' ? 'folder' : entry.type === 'symlink' ? 'link' : 'file',
    bytes: entry.type === 'file' ? entry.size : null,
    modifiedAt: Math.floor(Number(entry.mtime_ns) / 1e9),
    target: entry.type === 'symlink' ? entry.target : null,
    place,
    length: 1,
  };
}

/** Passes the content of a file to `write`, and verifies its checksum. Reads the archive up to it. Errors: DamagedArchiveError. */
export async function extractArchivedFile(
  files: ArchiveFiles,
  identity: ArchiveIdentity,
  { path, place }: IndexedEntry,
  write: (bytes: Buffer) => Promise<void>,
): Promise<void> {
  let number = 0;
  await readFirstItems(files, identity, place + 1, async ({ entry, content }) => {
    const isWanted = number === place;
    number += 1;
    if (!isWanted) return;
    if (entry.type !== 'file' || entry.path !== path) {
      throw new DamagedArchiveError('its manifest is not the one that was indexed');
    }
    const file = sparseWriter(partsOf(entry), entry.size, write);
    for await (const bytes of content) await file.write(bytes);
    await file.end();
  });
}
