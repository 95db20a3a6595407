import { type BigIntStats, closeSync, constants, fstatSync, lstatSync } from 'node:fs';
import { hasCode } from '../../../../lib/error-code.ts';
import { openContainedSync } from '../../host-folder/contained-file.ts';
import { hasChangedSince, isSameState, isSettled, SMALL_BYTES, TAKEN_BYTES } from '../file-state.ts';
import { isDatabase } from '../sqlite-header.ts';
import { type ChunkRef, encodeChunks } from './chunk-list.ts';
import { readFully } from './disk.ts';

/** A file to be stored, if that takes no waiting. */
export interface FileToTake {
  /** Absolute and real, one character for each byte: a message copies the whole memory that a small buffer is a part of. */
  path: string;
  /** What the previous backup has of it. */
  former: FormerState | null;
}

export interface FormerState {
  size: number;
  mtime_ns: string;
  state: string;
}

/** A file that was stored, as it was at one moment. */
export interface TakenFile {
  mode: number;
  mtime_ns: string;
  size: number;
  /** Its state, if every later change makes it another one. */
  state: string | null;
  /** In base64. */
  chunks: string;
}

/** `same`: as in the previous backup. Null: another one, or one that may have changed meanwhile. */
export type Taken = TakenFile | 'same' | null;

/** Inode and time of the last change. */
export const stateText = ({ ino, ctimeNs }: BigIntStats): string => `${ino}-${ctimeNs}`;

/** Takes contents. The bytes change afterwards. */
export interface ChunkSink {
  /** Stores a small file whole. */
  add(content: Uint8Array): ChunkRef;
  /** Stores a larger one in chunks. */
  cut(content: Uint8Array): ChunkRef[];
}

let buffer = Buffer.allocUnsafeSlow(SMALL_BYTES);

/** A part of one buffer, which grows when it must. */
function bufferOf(bytes: number): Buffer {
  if (bytes > buffer.length) buffer = Buffer.allocUnsafeSlow(TAKEN_BYTES);
  return buffer.subarray(0, bytes);
}

/**
 * Takes a file with synchronous calls, because a call through the pool of threads costs more than the work on a small file. Whatever is not
 * plain and at rest is left to the caller: it reads the file again, and names the error.
 *
 * @param seenMs not after this call
 */
export function takeFile({ path, former }: FileToTake, seenMs: number, sink: ChunkSink): Taken {
  const read = readPlain(Buffer.from(path, 'latin1'), former, seenMs);
  if (read === null || read === 'same') return read;
  const { stats, content } = read;
  return {
    mode: Number(stats.mode & 0o7777n),
    mtime_ns: stats.mtimeNs.toString(),
    size: content.length,
    state: isSettled(stats, seenMs) ? stateText(stats) : null,
    chunks: encodeChunks(chunksOf(content, sink)).toString('base64'),
  };
}

function chunksOf(content: Uint8Array, { add, cut }: ChunkSink): ChunkRef[] {
  if (content.length === 0) return [];
  return content.length <= SMALL_BYTES ? [add(content)] : cut(content);
}

/** The files that are taken in one call, so that the caller sees progress. It asks again for the others. */
const MOST_BYTES = 16 * 1024 * 1024;

/** Takes the first files, at least one. */
export function takeFiles(files: readonly FileToTake[], seenMs: number, sink: ChunkSink): Taken[] {
  const taken: Taken[] = [];
  let bytes = 0;
  for (const file of files) {
    const one = takeFile(file, seenMs, sink);
    taken.push(one);
    if (one !== null && one !== 'same') bytes += one.size;
    if (bytes >= MOST_BYTES) break;
  }
  return taken;
}

type Plain = { stats: BigIntStats; content: Uint8Array } | 'same' | null;

function readPlain(path: Buffer, former: FormerState | null, seenMs: number): Plain {
  try {
    if (former !== null && isFormer(lstatSync(path, { bigint: true }), former)) return 'same';
    const file = openContainedSync(path, constants.O_RDONLY);
    try {
      return readWholeFile(file, seenMs);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof Error && ('syscall' in error || hasCode(error, 'ENOTCONTAINED'))) return null;
    throw error;
  }
}

const isFormer = (stats: BigIntStats, former: FormerState): boolean =>
  stats.isFile() &&
  former.state === stateText(stats) &&
  former.size === Number(stats.size) &&
  former.mtime_ns === stats.mtimeNs.toString();

function readWholeFile(file: number, seenMs: number): Plain {
  const stats = fstatSync(file, { bigint: true });
  if (!stats.isFile() || stats.size > TAKEN_BYTES || hasChangedSince(stats, seenMs)) return null;
  const content = bufferOf(Number(stats.size));
  const isWhole = readFully(file, content, 0) === content.length && !isDatabase(content);
  return isWhole && isSameState(stats, fstatSync(file, { bigint: true })) ? { stats, content } : null;
}
