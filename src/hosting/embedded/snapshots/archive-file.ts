import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type tar from 'tar-stream';
import { type ArchivedName, archivedName } from '../../websites/backup-contents/archive-names.ts';

/** A file that is being read. */
export interface OpenFile {
  file: FileHandle;
  stats: BigIntStats;
  /** Relative to the archived folder. */
  path: Buffer;
}

/** Where an entry is, and its permissions and time. */
export interface Place {
  path: string;
  path_base64?: string;
  mode: number;
  mtime_ns: string;
}

export function placeOf(path: Buffer, stats: BigIntStats): Place {
  return {
    ...nameFields(path),
    mode: Number(stats.mode & 0o7777n),
    mtime_ns: stats.mtimeNs.toString(),
  };
}

export function nameFields(path: Buffer): Pick<Place, 'path' | 'path_base64'> {
  const { text, base64 }: ArchivedName = path.length === 0 ? { text: '.' } : archivedName(path);
  return { path: text, ...(base64 === undefined ? {} : { path_base64: base64 }) };
}

/** The last second that fits tar-stream's plain header; the manifest has the exact time. */
const MAX_TAR_SECONDS = 2 ** 31 - 1;

export function headerOf(place: Place): Pick<tar.Header, 'name' | 'mode' | 'mtime'> {
  const seconds = Math.floor(Number(place.mtime_ns) / 1e9);
  const mtime = new Date(Math.min(Math.max(seconds, 0), MAX_TAR_SECONDS) * 1000);
  // tar-stream takes 0 for "not given"; it drops bits above the permissions.
  return { name: place.path, mode: place.mode || 0o10000, mtime };
}
