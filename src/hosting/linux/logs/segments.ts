import { constants } from 'node:fs';
import { type FileHandle, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { ifThere } from '../../../lib/if-there.ts';
import { LOG_KINDS, type LogKind } from '../../contract/logs.ts';

/** A file of a log: entries of one UTC day, or a part of them. */
export interface Segment {
  kind: LogKind;
  /** `YYYY-MM-DD`. */
  day: string;
  /** From 1. */
  part: number;
  isCompressed: boolean;
}

/** A segment is followed by the next part at this size. A compressed segment is decompressed in memory. */
export const SEGMENT_BYTES = 32 * 1024 * 1024;

const NAME = new RegExp(`^(${LOG_KINDS.join('|')})-(\\d{4}-\\d{2}-\\d{2})(?:\\.(\\d{1,6}))?\\.log(\\.zst)?$`);

/** The segment's file: `access-2026-01-31.log`, `access-2026-01-31.2.log.zst`. */
export function segmentName({ kind, day, part, isCompressed }: Segment): string {
  return `${kind}-${day}${part === 1 ? '' : `.${part}`}.log${isCompressed ? '.zst' : ''}`;
}

/** Null for other files. */
export function parseSegmentName(name: string): Segment | null {
  const [, kind, day, part = '1', compressed] = NAME.exec(name) ?? [];
  const known = LOG_KINDS.find((one) => one === kind);
  if (known === undefined || day === undefined) return null;
  return { kind: known, day, part: Number(part), isCompressed: compressed !== undefined };
}

/** Compares segments of one log by their place in it. */
export function compareSegments(
  one: Pick<Segment, 'day' | 'part'>,
  other: Pick<Segment, 'day' | 'part'>,
): number {
  if (one.day !== other.day) return one.day < other.day ? -1 : 1;
  return one.part - other.part;
}

/**
 * The segments of a log, oldest first. If a host was killed while it compressed one, both files are there, and the uncompressed one
 * counts.
 */
export async function segmentsOf(folder: string, kind: LogKind): Promise<Segment[]> {
  const names = (await ifThere(readdir(folder))) ?? [];
  const all = names.flatMap((name) => parseSegmentName(name) ?? []).filter((found) => found.kind === kind);
  const present = new Set(all.filter(({ isCompressed }) => !isCompressed).map(placeOf));
  return all.filter((found) => !found.isCompressed || !present.has(placeOf(found))).sort(compareSegments);
}

const placeOf = ({ day, part }: Segment) => `${day}.${part}`;

/** The content of a segment. */
export interface SegmentContent {
  /** Bytes when it was opened. */
  size: number;
  read(start: number, end: number): Promise<Buffer>;
  close(): Promise<void>;
}

/** Nearly every segment in one chunk: joining chunks takes longer than the decompression. Linux gives no memory for what stays unused. */
const DECOMPRESSED_AT_ONCE = SEGMENT_BYTES + 1024 * 1024;

const decompress = promisify(zstdDecompress);
const FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Opens a segment; null if it is gone by now. */
export async function openSegment(folder: string, segment: Segment): Promise<SegmentContent | null> {
  const path = join(folder, segmentName(segment));
  if (segment.isCompressed) {
    const compressed = await ifThere(readFile(path));
    const limits = { maxOutputLength: 2 * SEGMENT_BYTES, chunkSize: DECOMPRESSED_AT_ONCE };
    return compressed && inMemory(await decompress(compressed, limits));
  }
  const file = await ifThere(open(path, FLAGS));
  return file && fromFile(file);
}

function inMemory(content: Buffer): SegmentContent {
  return {
    size: content.length,
    read: async (start, end) => content.subarray(start, end),
    close: async () => {},
  };
}

async function fromFile(file: FileHandle): Promise<SegmentContent> {
  const { size } = await file.stat();
  return {
    size,
    async read(start, end) {
      const buffer = Buffer.allocUnsafe(Math.max(0, end - start));
      let length = 0;
      while (length < buffer.length) {
        const { bytesRead } = await file.read(buffer, length, buffer.length - length, start + length);
        if (bytesRead === 0) break;
        length += bytesRead;
      }
      return buffer.subarray(0, length);
    },
    close: () => file.close(),
  };
}
