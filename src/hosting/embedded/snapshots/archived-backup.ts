import { createReadStream } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import type { Snapshot } from '../../contract/snapshots.ts';
import { extract, extractChosen } from './archive-extract.ts';
import { type ArchiveFiles, checksum } from './archive-files.ts';
import { isEntry, type ManifestTotals, openManifest } from './archive-manifest.ts';
import { type ArchiveIdentity, readArchive, readFirstItems, verifyArchive } from './archive-read.ts';
import { isGone } from './archive-tree.ts';
import { DamagedArchiveError } from './damaged-archive.ts';
import type { HeldBackup, Reading } from './held-backup.ts';
import { addToIndex, extractIndexed } from './snapshot-contents.ts';

/** A backup of an earlier version: an archive that tar and zstd read, and its manifest. It is read, but no more made. */
export function archivedBackup(files: ArchiveFiles, identity: ArchiveIdentity): HeldBackup {
  /** `report` gets the bytes of the archive. */
  async function progress({ report }: Reading): Promise<(done: number) => void> {
    const { size } = await lstat(files.archive);
    return (done) => report?.(done, size);
  }

  return {
    verify: async (signal) => summary(await verifyArchive(files, identity, signal)),

    async extract(folder, options) {
      const { signal } = options;
      await verifyArchive(files, identity, signal);
      const report = await progress(options);
      return summary(
        await extract(folder, true, (visit) => readArchive(files, identity, visit, signal, report)),
      );
    },

    async extractChosen(folder, chosen, options) {
      const reading = { signal: options.signal, report: await progress(options) };
      await extractChosen(folder, chosen, (visit) =>
        readFirstItems(files, identity, chosen.items, visit, reading),
      );
    },

    async unpack(write, signal) {
      const { archive_sha256 } = await verifyArchive(files, identity, signal);
      const input = checksum();
      const tar = createZstdDecompress();
      const read = pipeline(createReadStream(files.archive), input.stream, tar, { signal });
      // Reading its output reports the failure.
      read.catch(() => {});
      for await (const bytes of tar) await write(bytes);
      await read;
      if (input.digest() !== archive_sha256) throw new DamagedArchiveError('its checksum does not match');
    },

    async index(writer, { isHidden, signal }) {
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
          if (!isEntry(record)) return summary(record);
          addToIndex(writer, record, place, isHidden);
        }
      } finally {
        await manifest.close();
      }
    },

    extractFile: (entry, write) =>
      extractIndexed(entry, write, (visit) => readFirstItems(files, identity, entry.place + 1, visit)),
  };
}

function summary(totals: ManifestTotals): Snapshot {
  return { bytes: totals.archive_bytes, files: totals.files, sha256: totals.archive_sha256 };
}
