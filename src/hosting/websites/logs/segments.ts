import { readdir } from 'node:fs/promises';
import { ifThere } from '../../../lib/if-there.ts';
import { LOG_KINDS, type LogKind } from '../../contract/choices.ts';

/** A file of a log: entries of one UTC day, or a part of them. */
export interface Segment {
  kind: LogKind;
  /** `YYYY-MM-DD`. */
  day: string;
  /** From 1. */
  part: number;
  isCompressed: boolean;
}

/** A segment is followed by the next part at this size. */
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

/** Whole lines of a segment. */
export interface Block {
  buffer: Buffer;
  /** Where they begin in the segment. */
  start: number;
}

/** The content of a segment. Positions are those of the uncompressed content. */
export interface SegmentContent {
  /** Bytes when it was opened. */
  size: number;
  /** The lines before `end`, in blocks from the last to the first. */
  blocksBefore(end: number): AsyncIterable<Block>;
  /** The whole lines from `start`, in blocks from the first to the last. A line that is still being written is left out. */
  blocksFrom(start: number): AsyncIterable<Block>;
  /** The place after the last whole line. */
  endOfLines(): Promise<number>;
  close(): Promise<void>;
}
