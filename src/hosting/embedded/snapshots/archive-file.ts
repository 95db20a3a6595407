import { createHash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type tar from 'tar-stream';
import { type ArchivedName, archivedName } from '../../websites/backup-contents/archive-names.ts';
import type { ManifestEntry } from './archive-manifest.ts';
import { readPadded, readParts, type Source } from './archive-source.ts';
import { findData } from './find-holes.ts';
import { type DataPart, sparseForm } from './sparse-file.ts';

export type FileEntry = Extract<ManifestEntry, { type: 'file' }>;

interface Open {
  file: FileHandle;
  stats: BigIntStats;
  /** Relative to the archived folder. */
  path: Buffer;
}

/** Adds a file that may be too large for memory while reading it. Returns its entry in the manifest. */
export async function packFile(open: Open, source: Source, pack: tar.Pack): Promise<FileEntry> {
  const { file, stats, path } = open;
  const parts = await findData(file, stats, source.signal);
  if (parts !== null) return packSparse(open, parts, source, pack);
  const place = placeOf(path, stats);
  const size = Number(stats.size);
  const hash = createHash('sha256');
  const sink = pack.entry({ ...headerOf(place), type: 'file', size });
  await pipeline(readPadded(source, file, path, size, hash), sink, { signal: source.signal });
  return { type: 'file', ...place, size, sha256: hash.digest('hex') };
}

/** Adds a file's data between its holes. */
async function packSparse(
  { file, stats, path }: Open,
  parts: DataPart[],
  source: Source,
  pack: tar.Pack,
): Promise<FileEntry> {
  const place = placeOf(path, stats);
  const size = Number(stats.size);
  const { map, ...form } = sparseForm(place.path, size, parts);
  const hash = createHash('sha256');
  const sink = pack.entry({ ...headerOf(place), ...form, type: 'file' });
  sink.write(map);
  await pipeline(readParts(source, file, path, parts, hash), sink, { signal: source.signal });
  return {
    type: 'file',
    ...place,
    size,
    sha256: hash.digest('hex'),
    data: parts.map(({ offset, length }) => [offset, length]),
  };
}

interface Place {
  path: string;
  path_base64?: string;
  mode: number;
  mtime_ns: string;
}

export function placeOf(path: Buffer, stats: BigIntStats): Place {
  const name: ArchivedName = path.length === 0 ? { text: '.' } : archivedName(path);
  return {
    path: name.text,
    ...(name.base64 === undefined ? {} : { path_base64: name.base64 }),
    mode: Number(stats.mode & 0o7777n),
    mtime_ns: stats.mtimeNs.toString(),
  };
}

/** The last second that fits tar-stream's plain header; the manifest has the exact time. */
const MAX_TAR_SECONDS = 2 ** 31 - 1;

export function headerOf(place: Place): Pick<tar.Header, 'name' | 'mode' | 'mtime'> {
  const seconds = Math.floor(Number(place.mtime_ns) / 1e9);
  const mtime = new Date(Math.min(Math.max(seconds, 0), MAX_TAR_SECONDS) * 1000);
  // tar-stream takes 0 for "not given"; it drops bits above the permissions.
  return { name: place.path, mode: place.mode || 0o10000, mtime };
}
