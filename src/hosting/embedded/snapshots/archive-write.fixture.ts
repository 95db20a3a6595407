import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createZstdCompress, constants as zlib } from 'node:zlib';
import tar from 'tar-stream';
import type { Clock } from '../../../lib/clock.ts';
import { headerOf, type OpenFile, placeOf } from './archive-file.ts';
import { type ArchiveFiles, checksum } from './archive-files.ts';
import {
  createManifestWriter,
  type ManifestEntry,
  type ManifestHeader,
  type ManifestTotals,
  type ManifestWriter,
} from './archive-manifest.ts';
import { CHUNK_BYTES, readParts, type Source } from './archive-source.ts';
import { findData } from './find-holes.ts';
import { readWebsite, type WebsiteSink } from './read-website.ts';
import { sparseForm } from './sparse-file.ts';
import type { WriteOptions } from './stored-write.ts';

/** Five times faster than gzip's fastest level, and smaller than gzip's best. */
const ZSTD_LEVEL = 3;

/**
 * Makes a backup as earlier versions did: writes a folder into an archive (tar, compressed with zstd) and a manifest. Both are new files and durable when the promise resolves.
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
    try {
      const source: Source = { signal: undefined, ...options, root, clock };
      const counts = await readWebsite(source, archiveSink(source, pack, manifest));
      pack.finalize();
      await written;
      const totals = { ...counts, archive_bytes: output.bytes(), archive_sha256: output.digest() };
      await manifest.finish(totals);
      return totals;
    } catch (error) {
      pack.destroy(error instanceof Error ? error : new Error(String(error)));
      throw (await failure) ?? error;
    }
  } finally {
    await manifest.close();
  }
}

type FileEntry = Extract<ManifestEntry, { type: 'file' }>;

function archiveSink(source: Source, pack: tar.Pack, manifest: ManifestWriter): WebsiteSink {
  return {
    async folder(place) {
      pack.entry({ ...headerOf(place), name: `${place.path}/`, type: 'directory' });
      await manifest.add({ type: 'directory', ...place });
    },
    async link(place, { text, base64 }) {
      pack.entry({ ...headerOf(place), type: 'symlink', linkname: text });
      const target = { target: text, ...(base64 === undefined ? {} : { target_base64: base64 }) };
      await manifest.add({ type: 'symlink', ...place, ...target });
    },
    async small(place, { content }) {
      pack.entry({ ...headerOf(place), type: 'file' }, content);
      const sha256 = createHash('sha256').update(content).digest('hex');
      await manifest.add({ type: 'file', ...place, size: content.length, sha256 });
    },
    async large(open) {
      const entry = await packFile(open, source, pack);
      return {
        pieces: entry.data === undefined ? [{ length: entry.size, sha256: entry.sha256 }] : null,
        keep: (isWhole) => manifest.add(isWhole ? entry : { ...entry, superseded: true }),
      };
    },
  };
}

/** Adds a file that may be too large for memory while reading it. Returns its entry in the manifest. */
async function packFile({ file, stats, path }: OpenFile, source: Source, pack: tar.Pack): Promise<FileEntry> {
  const parts = await findData(file, stats, source.signal);
  const place = placeOf(path, stats);
  const size = Number(stats.size);
  const hash = createHash('sha256');
  async function* hashed(): AsyncGenerator<Buffer> {
    for await (const bytes of readParts(source, file, path, parts ?? [{ offset: 0, length: size }])) {
      hash.update(bytes);
      yield bytes;
    }
  }
  const sparse = parts === null ? null : sparseForm(place.path, size, parts);
  const { map, ...form } = sparse ?? { map: Buffer.alloc(0), size };
  const sink = pack.entry({ ...headerOf(place), ...form, type: 'file' });
  if (map.length > 0) sink.write(map);
  await pipeline(hashed(), sink, { signal: source.signal });
  return {
    type: 'file',
    ...place,
    size,
    sha256: hash.digest('hex'),
    ...(parts === null ? {} : { data: parts.map(({ offset, length }) => [offset, length]) }),
  };
}

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
