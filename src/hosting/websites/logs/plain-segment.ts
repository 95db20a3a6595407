import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { ifThere } from '../../../lib/if-there.ts';
import type { Block, SegmentContent } from './segments.ts';

const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
/** Far longer than a line. */
const BLOCK = 1024 * 1024;
/** Longer than the longest line. */
const TAIL = 64 * 1024;
const LINE_FEED = 0x0a;

/** Opens an uncompressed segment; null if it is gone by now. */
export async function openPlain(path: string): Promise<SegmentContent | null> {
  const file = await ifThere(open(path, FLAGS));
  if (file === null) return null;
  const { size } = await file.stat();
  return contentOf(
    size,
    (start, end) => readBytes(file, start, end),
    () => file.close(),
  );
}

/** Returns the bytes from `start` to `end`; fewer if the content has become shorter. */
type Read = (start: number, end: number) => Promise<Buffer>;

/** The content that `read` reads. */
export function contentOf(size: number, read: Read, close: () => Promise<void>): SegmentContent {
  return {
    size,
    blocksBefore: (end) => blocksBefore(read, Math.min(end, size)),
    blocksFrom: (start) => blocksFrom(read, start, size),
    async endOfLines() {
      const start = Math.max(0, size - TAIL);
      const tail = await read(start, size);
      return start + tail.lastIndexOf(LINE_FEED) + 1;
    },
    close,
  };
}

async function* blocksBefore(read: Read, end: number): AsyncGenerator<Block> {
  let upTo = end;
  while (upTo > 0) {
    const start = Math.max(0, upTo - BLOCK);
    const buffer = await read(start, upTo);
    // The line at the start continues in the block before. Without a line feed, no line is whole.
    const whole = start === 0 ? 0 : buffer.indexOf(LINE_FEED, 0) + 1;
    const isLost = whole === buffer.length || (start > 0 && whole === 0);
    if (!isLost) yield { buffer: buffer.subarray(whole), start: start + whole };
    upTo = isLost ? start : start + whole;
  }
}

async function* blocksFrom(read: Read, start: number, size: number): AsyncGenerator<Block> {
  let from = start;
  while (from < size) {
    const buffer = await read(from, Math.min(size, from + BLOCK));
    const whole = buffer.lastIndexOf(LINE_FEED) + 1;
    if (whole === 0 && (buffer.length < BLOCK || buffer.length === 0)) return;
    if (whole > 0) yield { buffer: buffer.subarray(0, whole), start: from };
    from += whole === 0 ? buffer.length : whole;
  }
}

async function readBytes(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, end - start));
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, start + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}
