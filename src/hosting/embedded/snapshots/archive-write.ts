import { createHash } from 'node:crypto';
import { type BigIntStats, constants, createWriteStream } from 'node:fs';
import { lstat, readlink, realpath } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, constants as zlib } from 'node:zlib';
import tar from 'tar-stream';
import type { Clock } from '../../../lib/clock.ts';
import { archivedName, quoted } from '../../websites/backup-contents/archive-names.ts';
import { openContained } from '../host-folder/contained-file.ts';
import { type FileEntry, headerOf, packFile, placeOf } from './archive-file.ts';
import {
  createManifestWriter,
  type ManifestHeader,
  type ManifestTotals,
  type ManifestWriter,
} from './archive-manifest.ts';
import {
  CHUNK_BYTES,
  isStable,
  isUnchanged,
  readSmall,
  type SmallFile,
  type Source,
  untilStable,
} from './archive-source.ts';
import { isGone, joinBytes, type TreeItem, unreadable, walkTree } from './archive-tree.ts';
import { copyAtRest, filesOf, isAbsent, partsOf } from './sqlite-database.ts';

export interface ArchiveFiles {
  archive: string;
  manifest: string;
}

/** Five times faster than gzip's fastest level, and smaller than gzip's best. */
const ZSTD_LEVEL = 3;
/** Copies of a database that changes meanwhile. */
const DATABASE_TRIES = 4;
/** The same, if the website can rest for one more. */
const TRIES_BEFORE_REST = 2;
/** Small files read ahead of the one being archived, because most time is spent waiting for the disk. */
const LOOK_AHEAD = 8;

export interface WriteOptions extends Partial<Pick<Source, 'leftOut' | 'signal' | 'atRest'>> {
  report?: ((done: number) => void) | undefined;
}

/**
 * Writes a folder into an archive (tar, compressed with zstd) and a manifest. Both are new files and durable when the promise resolves.
 * Memory does not grow with the size of files. Files are consistent as defined in {@link Source}. Files that vanish before they are read
 * are left out of archive and manifest.
 */
export async function writeArchive(
  folder: string,
  files: ArchiveFiles,
  header: ManifestHeader,
  clock: Clock,
  { report, ...options }: WriteOptions = {},
): Promise<ManifestTotals> {
  const { signal } = options;
  const root = await realpath(folder, { encoding: 'buffer' });
  const manifest = await createManifestWriter(files.manifest, header);
  try {
    const pack = tar.pack();
    const output = checksum();
    const written = pipeline(
      pack,
      (pieces: AsyncIterable<unknown>) => inBlocks(pieces, report),
      createZstdCompress({ chunkSize: CHUNK_BYTES, params: { [zlib.ZSTD_c_compressionLevel]: ZSTD_LEVEL } }),
      output.stream,
      createWriteStream(files.archive, { flags: 'wx', mode: 0o600, flush: true }),
      { signal },
    );
    // If the pipeline fails, that is the cause of every other failure.
    const failure = written.then(
      () => null,
      (error: unknown) => error,
    );
    const counts = { files: 0, directories: 0, symlinks: 0, skipped: 0 };
    try {
      const source: Source = { signal: undefined, ...options, root, clock };
      const archive: Archive = { source, pack, manifest, counts, added: new Set() };
      for await (const { item, small } of readAhead(source)) {
        signal?.throwIfAborted();
        if (item.kind === 'file' && archive.added.has(keyOf(item.path))) continue;
        await addItem(item, await small, archive);
      }
      pack.finalize();
    } catch (error) {
      pack.destroy(error instanceof Error ? error : new Error(String(error)));
      throw (await failure) ?? error;
    }
    await written;
    const totals = { ...counts, archive_bytes: output.bytes(), archive_sha256: output.digest() };
    await manifest.finish(totals);
    return totals;
  } finally {
    await manifest.close();
  }
}

type Small = SmallFile | 'large' | 'database' | null;

/** All items of a folder. Small files are read ahead while earlier items are archived. */
async function* readAhead(source: Source): AsyncGenerator<{ item: TreeItem; small: Promise<Small> }> {
  const waiting: { item: TreeItem; small: Promise<Small> }[] = [];
  for await (const item of walkTree(source.root, source.leftOut)) {
    const small = item.kind === 'file' ? readIfThere(source, item.path) : Promise.resolve(null);
    // The consumer of the item gets the failure. Until then it must not count as unhandled.
    small.catch(() => {});
    waiting.push({ item, small });
    const next = waiting.length > LOOK_AHEAD ? waiting.shift() : undefined;
    if (next !== undefined) yield next;
  }
  yield* waiting;
}

async function readIfThere(source: Source, path: Buffer): Promise<Small> {
  return leaveOutIfGone(path, null, () => readSmall(source, path));
}

/** Runs `read`. Returns `otherwise` if the file is missing; other system errors name the path. */
async function leaveOutIfGone<T>(
  path: Buffer,
  otherwise: T,
  read: () => Promise<T>,
  isMissing = isGone,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    if (isMissing(error)) return otherwise;
    throw error instanceof Error && 'syscall' in error ? unreadable(path, error) : error;
  }
}

interface Archive {
  source: Source;
  pack: tar.Pack;
  manifest: ManifestWriter;
  counts: { files: number; directories: number; symlinks: number; skipped: number };
  /** Files that were added together with a database. */
  added: Set<string>;
}

async function addItem(item: TreeItem, small: Small, archive: Archive): Promise<void> {
  const { path } = item;
  if (item.kind === 'special') archive.counts.skipped += 1;
  else if (item.kind === 'directory') await addFolder(path, item.stats, archive);
  else if (item.kind === 'symlink') await leaveOutIfGone(path, undefined, () => addLink(path, archive));
  else if (small === 'database') await addDatabase(path, archive);
  else if (small === 'large') await leaveOutIfGone(path, undefined, () => addLarge(path, archive));
  else if (small !== null) await addSmall(path, small, archive);
}

async function addFolder(
  path: Buffer,
  stats: BigIntStats,
  { pack, manifest, counts }: Archive,
): Promise<void> {
  const place = placeOf(path, stats);
  pack.entry({ ...headerOf(place), name: `${place.path}/`, type: 'directory' });
  await manifest.add({ type: 'directory', ...place });
  counts.directories += 1;
}

async function addLink(path: Buffer, { source, pack, manifest, counts }: Archive): Promise<void> {
  const link = joinBytes(source.root, path);
  const stats = await lstat(link, { bigint: true });
  if (!stats.isSymbolicLink()) return;
  const place = placeOf(path, stats);
  const { text, base64 } = archivedName(await readlink(link, { encoding: 'buffer' }));
  pack.entry({ ...headerOf(place), type: 'symlink', linkname: text });
  const target = { target: text, ...(base64 === undefined ? {} : { target_base64: base64 }) };
  await manifest.add({ type: 'symlink', ...place, ...target });
  counts.symlinks += 1;
}

async function addSmall(path: Buffer, small: SmallFile, { pack, manifest, counts }: Archive): Promise<void> {
  const { content, sha256 } = small;
  const place = placeOf(path, small.stats);
  pack.entry({ ...headerOf(place), type: 'file' }, content);
  await manifest.add({ type: 'file', ...place, size: content.length, sha256 });
  counts.files += 1;
}

/** Archives a file too large for memory while reading it. An inconsistent copy is marked as such. */
async function addLarge(path: Buffer, { source, pack, manifest, counts }: Archive): Promise<void> {
  const isThere = await untilStable(source, path, async (file, stats) => {
    const entry = await packFile({ file, stats, path }, source, pack);
    const isWhole =
      entry.data === undefined
        ? await isStable(source, file, path, stats, entry.sha256)
        : await isUnchanged(source, file, stats);
    await manifest.add(isWhole ? entry : { ...entry, superseded: true });
    return isWhole;
  });
  if (isThere) counts.files += 1;
}

/** Archives a database of SQLite together with the files that belong to it, all as they were at one moment. */
async function addDatabase(path: Buffer, { source, pack, manifest, counts, added }: Archive): Promise<void> {
  let entries: FileEntry[] = [];
  const copyParts = async (): Promise<void> => {
    entries = [];
    for (const part of partsOf(path)) {
      const entry = await leaveOutIfGone(part, null, () => packPart(part, source, pack), isAbsent);
      if (entry !== null) entries.push(entry);
    }
  };
  const attempt = (tries: number): Promise<boolean> =>
    copyAtRest({
      root: source.root,
      database: path,
      tries,
      clock: source.clock,
      signal: source.signal,
      copy: copyParts,
      async copied(isWhole) {
        for (const entry of entries) await manifest.add(isWhole ? entry : { ...entry, superseded: true });
      },
    });
  const { atRest, signal } = source;
  const isCopied =
    atRest === undefined
      ? await attempt(DATABASE_TRIES)
      : (await attempt(TRIES_BEFORE_REST)) || (await atRest(() => attempt(1), signal));
  if (!isCopied) {
    throw new Error(`The database ${quoted(path)} kept changing while it was read.`);
  }
  counts.files += entries.length;
  for (const file of filesOf(path)) added.add(keyOf(file));
}

/** Null if it is no plain file. */
async function packPart(path: Buffer, source: Source, pack: tar.Pack): Promise<FileEntry | null> {
  const file = await openContained(joinBytes(source.root, path), constants.O_RDONLY);
  try {
    const stats = await file.stat({ bigint: true });
    return stats.isFile() ? await packFile({ file, stats, path }, source, pack) : null;
  } finally {
    await file.close();
  }
}

const keyOf = (path: Buffer): string => path.toString('latin1');

/** Joins small pieces, because each piece costs the compressor a trip to another thread. */
async function* inBlocks(
  pieces: AsyncIterable<unknown>,
  report?: (done: number) => void,
): AsyncGenerator<Buffer> {
  let block: Buffer[] = [];
  let bytes = 0;
  let done = 0;
  for await (const piece of pieces) {
    if (!Buffer.isBuffer(piece)) throw new TypeError('the archive gives something else than bytes');
    block.push(piece);
    bytes += piece.length;
    if (bytes < CHUNK_BYTES) continue;
    done += bytes;
    report?.(done);
    yield Buffer.concat(block);
    block = [];
    bytes = 0;
  }
  yield Buffer.concat(block);
}

/** Passes bytes through, counting and hashing them. `report` gets the count. */
export function checksum(report?: (done: number) => void): {
  stream: Transform;
  bytes(): number;
  digest(): string;
} {
  const hash = createHash('sha256');
  let bytes = 0;
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      hash.update(chunk);
      report?.(bytes);
      done(null, chunk);
    },
  });
  return { stream, bytes: () => bytes, digest: () => hash.digest('hex') };
}
