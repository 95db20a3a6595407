import { spawn } from 'node:child_process';
import type { BigIntStats } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import tar from 'tar-stream';
import { areInside, type DataPart } from './sparse-file.ts';

/** If a file has fewer bytes in holes than this, reading them costs less than finding them. */
const WORTH_BYTES = 16 * 1024 * 1024;
/** A file with more parts than this is archived with its zeros. Each part takes at least one disk block. */
const MOST_PARTS = 100_000;
const LONGEST_MAP_BYTES = 64 + MOST_PARTS * 32;

/**
 * Finds the data parts of an open file without reading it. Returns null if the whole file must be read, because it has no large holes or
 * this machine cannot locate them. Node lacks SEEK_HOLE; GNU tar has it, and its archive begins with a map of the data.
 */
export async function findData(
  file: FileHandle,
  stats: BigIntStats,
  signal: AbortSignal | undefined,
): Promise<DataPart[] | null> {
  if (stats.size - stats.blocks * 512n < WORTH_BYTES) return null;
  if (stats.blocks === 0n) return [];
  if (process.platform !== 'linux') return null;
  signal?.throwIfAborted();
  const parts = await askTar(file, signal);
  const isUsable = parts !== null && parts.length <= MOST_PARTS && areInside(parts, Number(stats.size));
  return isUsable ? parts : null;
}

/** Null without GNU tar, or if tar finds no holes. It gets the open file, so no name can lead it elsewhere. */
async function askTar(file: FileHandle, signal: AbortSignal | undefined): Promise<DataPart[] | null> {
  const options = [
    '--create',
    '--file=-',
    '--format=pax',
    '--sparse',
    '--sparse-version=1.0',
    '--dereference',
  ];
  const child = spawn('tar', [...options, '--', '/proc/self/fd/3'], {
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'ignore', file.fd],
  });
  const gone = new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  const stop = () => child.kill('SIGKILL');
  signal?.addEventListener('abort', stop);
  try {
    const { stdout } = child;
    return stdout === null ? null : await readMap(stdout);
  } catch {
    signal?.throwIfAborted();
    return null;
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
    await gone;
  }
}

/** Reads the map at the beginning of an archive's only entry. */
async function readMap(archive: Readable): Promise<DataPart[] | null> {
  const extract = tar.extract();
  // This fails once the map has been read and the rest is dropped. The loop sees earlier failures.
  pipeline(archive, extract).catch(() => {});
  for await (const entry of extract) {
    if (Reflect.get(entry.header.pax ?? {}, 'GNU.sparse.major') !== '1') return null;
    let text = '';
    for await (const chunk of entry) {
      text += String(chunk);
      const parts = parseMap(text);
      if (parts !== null) return parts;
      if (text.length > LONGEST_MAP_BYTES) return null;
    }
  }
  return null;
}

/** Null if the map is incomplete. */
function parseMap(text: string): DataPart[] | null {
  const end = text.indexOf('\n');
  if (end < 0) return null;
  const count = Number(text.slice(0, end));
  if (!Number.isSafeInteger(count) || count > MOST_PARTS) throw new Error('the map of the data is unusable');
  const lines = text.split('\n', 2 * count + 2);
  if (lines.length < 2 * count + 2) return null;
  const numbers = lines.slice(1, 2 * count + 1).map(Number);
  const parts = Array.from({ length: count }, (_, n) => ({
    offset: numbers[2 * n] ?? Number.NaN,
    length: numbers[2 * n + 1] ?? Number.NaN,
  }));
  return parts.filter(({ length }) => length > 0);
}
