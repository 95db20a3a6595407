import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';
import tar from 'tar-stream';
import { messageOf } from '../../../lib/error-message.ts';
import { quoted } from '../../websites/backup-contents/archive-names.ts';
import { type ArchiveFiles, checksum } from './archive-files.ts';
import { isEntry, type ManifestEntry, type ManifestTotals, openManifest } from './archive-manifest.ts';
import { isGone } from './archive-tree.ts';
import { DamagedArchiveError } from './damaged-archive.ts';
import { relativePath } from './entry-path.ts';
import { areInside, partsOf, sparseFormOf } from './sparse-file.ts';
import type { StoredEntry } from './stored-manifest.ts';

/** One entry of an archive. For a file, `content` yields its bytes (for a sparse file its data) and must be read to the end. */
export interface ArchivedItem {
  entry: ManifestEntry | StoredEntry;
  /** Relative, empty for the folder itself. The parent folder is always an earlier item. */
  path: Buffer;
  content: AsyncIterable<Buffer>;
}

/** The snapshot that an archive should belong to. */
export interface ArchiveIdentity {
  installId: string;
  backupId: string;
}

const READ_BYTES = 256 * 1024;

/**
 * Reads an archive along with its manifest and checks everything: equal entries, no entry outside the folder, each file's size and
 * checksum, the totals, and the checksum of the archive. An entry is verified once its content is read to the end; the archive is
 * verified once the promise resolves. Errors: {@link DamagedArchiveError}, and any error of `visit`.
 *
 * @param visit called with one item after the other; unread content is checked too
 * @returns the totals
 */
export async function readArchive(
  files: ArchiveFiles,
  identity: ArchiveIdentity,
  visit: (item: ArchivedItem) => Promise<void>,
  signal?: AbortSignal,
  report?: (done: number) => void,
): Promise<ManifestTotals> {
  const totals = await readItems(files, identity, visit, { signal, report });
  if (totals === null) throw new Error('an archive was not read to its end');
  return totals;
}

/** Reads the first items of an archive. Each is verified, but not the archive. Errors as {@link readArchive}. */
export async function readFirstItems(
  files: ArchiveFiles,
  identity: ArchiveIdentity,
  items: number,
  visit: (item: ArchivedItem) => Promise<void>,
  options: { signal?: AbortSignal | undefined; report?: ((done: number) => void) | undefined } = {},
): Promise<void> {
  await readItems(files, identity, visit, { ...options, items });
}

/** `items`: how many items are read; the totals are null then. Default: all. */
async function readItems(
  files: ArchiveFiles,
  identity: ArchiveIdentity,
  visit: (item: ArchivedItem) => Promise<void>,
  {
    signal,
    report,
    items,
  }: {
    signal?: AbortSignal | undefined;
    report?: ((done: number) => void) | undefined;
    items?: number;
  },
): Promise<ManifestTotals | null> {
  const manifest = await openManifest(files.manifest).catch((error: unknown) => {
    throw isGone(error) ? new DamagedArchiveError('its manifest is missing') : error;
  });
  const extract = tar.extract();
  const input = checksum(report);
  const read = pipeline(
    createReadStream(files.archive, { highWaterMark: READ_BYTES }),
    input.stream,
    createZstdDecompress({ chunkSize: READ_BYTES }),
    extract,
    { signal },
  );
  // Reported below. Without this, a failure between two entries would count as unhandled.
  read.catch(() => {});
  try {
    const { header } = manifest;
    if (header.install_id !== identity.installId || header.backup_id !== identity.backupId) {
      throw new DamagedArchiveError('its manifest is that of another snapshot');
    }
    const counts = { files: 0, directories: 0, symlinks: 0 };
    const folders = new Set<string>();
    let seen = 0;
    for await (const packed of extract) {
      const entry = await manifest.next();
      if (!isEntry(entry)) throw new DamagedArchiveError('it has entries that its manifest does not have');
      checkHeader(packed.header, entry);
      const path = relativePath(entry, folders);
      const content = checkedContent(packed, entry);
      await visit({ entry, path, content });
      for await (const _rest of content);
      count(entry, counts);
      seen += 1;
      if (seen === items) return null;
    }
    await read;
    const totals = await manifest.next();
    if (isEntry(totals)) throw new DamagedArchiveError('its manifest has entries that it does not have');
    checkTotals(totals, counts, input);
    return totals;
  } catch (error) {
    throw explain(error, signal);
  } finally {
    await manifest.close();
    extract.destroy();
    await read.catch(() => {});
  }
}

/** Reads and checks a whole archive. */
export async function verifyArchive(
  files: ArchiveFiles,
  identity: ArchiveIdentity,
  signal?: AbortSignal,
): Promise<ManifestTotals> {
  return readArchive(files, identity, async () => {}, signal);
}

function checkHeader(header: tar.Header, entry: ManifestEntry): void {
  const sparse = entry.type === 'file' ? sparseFormOf(entry) : null;
  const name = sparse?.name ?? (entry.type === 'directory' ? `${entry.path}/` : entry.path);
  const size = sparse?.size ?? (entry.type === 'file' ? entry.size : 0);
  const target = entry.type === 'symlink' ? entry.target : null;
  const isSame =
    (entry.type !== 'file' || areInside(partsOf(entry), entry.size)) &&
    header.name === name &&
    header.type === entry.type &&
    header.mode === entry.mode &&
    header.size === size &&
    header.linkname === target;
  if (!isSame) {
    throw new DamagedArchiveError(`the entry ${quoted(Buffer.from(entry.path))} differs from its manifest`);
  }
}

async function* checkedContent(
  content: AsyncIterable<unknown>,
  entry: ManifestEntry,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  const map = (entry.type === 'file' && sparseFormOf(entry)?.map) || Buffer.alloc(0);
  let passed = 0;
  for await (const chunk of content) {
    if (!Buffer.isBuffer(chunk)) throw new TypeError('the archive gives something else than bytes');
    const ofMap = chunk.subarray(0, Math.max(0, map.length - passed));
    if (!ofMap.equals(map.subarray(passed, passed + ofMap.length))) {
      throw new DamagedArchiveError(
        `the map of ${quoted(Buffer.from(entry.path))} differs from its manifest`,
      );
    }
    passed += ofMap.length;
    const data = chunk.subarray(ofMap.length);
    hash.update(data);
    if (data.length > 0) yield data;
  }
  if (entry.type === 'file' && hash.digest('hex') !== entry.sha256) {
    throw new DamagedArchiveError(`the checksum of ${quoted(Buffer.from(entry.path))} does not match`);
  }
}

type Counts = Pick<ManifestTotals, 'files' | 'directories' | 'symlinks'>;

function count(entry: ManifestEntry, counts: Counts): void {
  if (entry.type === 'directory') counts.directories += 1;
  else if (entry.type === 'symlink') counts.symlinks += 1;
  else if (!entry.superseded) counts.files += 1;
}

function checkTotals(totals: ManifestTotals, counts: Counts, input: ReturnType<typeof checksum>): void {
  if (input.bytes() !== totals.archive_bytes || input.digest() !== totals.archive_sha256) {
    throw new DamagedArchiveError('its checksum does not match');
  }
  const isComplete =
    counts.files === totals.files &&
    counts.directories === totals.directories &&
    counts.symlinks === totals.symlinks;
  if (!isComplete) throw new DamagedArchiveError('it has fewer or more entries than it had');
}

/** Disk errors and the caller's signal are not damage; every decoder error is. */
function explain(error: unknown, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted) return signal.reason;
  if (error instanceof DamagedArchiveError) return error;
  if (error instanceof Error && 'syscall' in error && 'errno' in error) return error;
  const cause = messageOf(error);
  return new DamagedArchiveError(`it cannot be decoded (${cause})`, { cause: error });
}
