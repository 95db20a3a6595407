import { join } from 'node:path';
import { MINUTE_MS } from '../../../lib/durations.ts';
import { LOG_PAGE } from '../../contract/choices.ts';
import { LOG_PAGE_BYTES, type LogPage, type LogQuery } from '../../contract/logs.ts';
import { openCompressed } from './compressed-segment.ts';
import { linesFromEnd, linesFromStart } from './line-search.ts';
import { timeAt } from './log-line.ts';
import { type Matcher, matcherOf } from './matching.ts';
import { openPlain } from './plain-segment.ts';
import { compareSegments, type Segment, type SegmentContent, segmentName, segmentsOf } from './segments.ts';

/** A position in a log. */
interface Position {
  day: string;
  part: number;
  /** Of the decompressed content. */
  offset: number;
}

export interface ReadingOptions {
  /** Milliseconds, for the time limit of a search. */
  now(): number;
  /** Time after which a search ends with the lines that it has, in milliseconds. */
  withinMs: number;
  /** The present UTC day. */
  today: string;
  signal?: AbortSignal | undefined;
}

/** Entries are written in the order of their times, except for those that several processes write within seconds. */
const DISORDER_MS = MINUTE_MS;
/** Room for a last line. */
const TAIL = 64 * 1024;

/** Reads a page of a log, in blocks, so that neither memory nor the event loop suffer from a large log. */
export async function readLog(folder: string, query: LogQuery, options: ReadingOptions): Promise<LogPage> {
  const segments = await segmentsOf(folder, query.kind);
  const end = await endOf(folder, segments, options.today);
  const from = query.cursor === null ? end : parsePosition(query.cursor);
  const page = new Page(query, options);
  const reached =
    query.direction === 'older'
      ? await readOlder(folder, segments, from, page)
      : // Without such a segment, the cursor is invented, or of a day before the first entry.
        ((await readNewer(folder, segments, from, page)) ?? end);
  return { lines: page.lines, cursor: reached && formatPosition(reached), end: formatPosition(end) };
}

async function readOlder(
  folder: string,
  segments: readonly Segment[],
  from: Position,
  page: Page,
): Promise<Position | null> {
  for (const segment of segments.toReversed()) {
    if (compareSegments(segment, from) > 0 || page.isAfterRange(segment.day)) continue;
    if (page.isBeforeRange(segment.day)) return null;
    const { day, part } = segment;
    const isFirst = compareSegments(segment, from) === 0;
    // Before a compressed segment is read.
    if (page.isOver()) return { day, part, offset: isFirst ? from.offset : Number.MAX_SAFE_INTEGER };
    const content = await openSegment(folder, segment);
    if (content === null) continue;
    try {
      if (page.endsOn(day) && page.isYetToCome(await beginningOf(content))) continue;
      for await (const { buffer, start } of content.blocksBefore(isFirst ? from.offset : content.size)) {
        const begins = timeAt(buffer, 0);
        for (const line of page.isYetToCome(begins) ? [] : linesFromEnd(buffer, page.needle)) {
          if (!page.take(buffer, line)) continue;
          return { day, part, offset: start + line.start };
        }
        // Entries that arrived late can follow newer ones in a part of their own, so earlier parts are looked at, too.
        if (page.isPast(begins)) break;
        if (page.isOver() && start > 0) return { day, part, offset: start };
      }
    } finally {
      await content.close();
    }
  }
  return null;
}

/** Where it ended; null if no segment is at or after `from`. */
async function readNewer(
  folder: string,
  segments: readonly Segment[],
  from: Position,
  page: Page,
): Promise<Position | null> {
  let reached: Position | null = null;
  for (const segment of segments) {
    if (compareSegments(segment, from) < 0) continue;
    const { day, part } = segment;
    const content = await openSegment(folder, segment);
    if (content === null) continue;
    try {
      const offset = compareSegments(segment, from) === 0 ? Math.min(from.offset, content.size) : 0;
      reached = { day, part, offset };
      for await (const { buffer, start } of content.blocksFrom(offset)) {
        for (const line of linesFromStart(buffer, page.needle)) {
          if (page.take(buffer, line)) return { day, part, offset: start + line.end + 1 };
        }
        reached = { day, part, offset: start + buffer.length };
        if (page.isOver()) return reached;
      }
    } finally {
      await content.close();
    }
  }
  return reached;
}

/** The time of the first line; NaN without one. */
async function beginningOf(content: SegmentContent): Promise<number> {
  for await (const { buffer } of content.blocksFrom(0)) return timeAt(buffer, 0);
  return Number.NaN;
}

/** The lines of an answer, and what the query asks of them. */
class Page {
  readonly lines: string[] = [];
  readonly needle: string | null;
  readonly #matcher: Matcher;
  readonly #from: number;
  readonly #to: number;
  readonly #limit: number;
  readonly #options: ReadingOptions;
  readonly #until: number;
  #bytes = 0;

  constructor(query: LogQuery, options: ReadingOptions) {
    this.#matcher = matcherOf(query);
    this.needle = this.#matcher.needle;
    this.#from = query.from === null ? Number.NEGATIVE_INFINITY : Date.parse(query.from);
    this.#to = query.to === null ? Number.POSITIVE_INFINITY : Date.parse(query.to);
    this.#limit = Math.max(1, Math.min(query.limit, LOG_PAGE));
    this.#options = options;
    this.#until = options.now() + options.withinMs;
  }

  /** Adds the line if it is meant. Returns whether the page is full then. */
  take(buffer: Buffer, { start, end }: { start: number; end: number }): boolean {
    const time = timeAt(buffer, start);
    if (!(time >= this.#from && time < this.#to)) return false;
    const line = buffer.toString('utf8', start, end);
    if (!this.#matcher.matches(line)) return false;
    this.lines.push(line);
    this.#bytes += end - start;
    return this.lines.length >= this.#limit || this.#bytes >= LOG_PAGE_BYTES - TAIL;
  }

  /** Whether all lines before one of this time are too old. */
  isPast(time: number): boolean {
    return time < this.#from - DISORDER_MS;
  }

  /** Whether all lines after one of this time are too new. */
  isYetToCome(time: number): boolean {
    return time >= this.#to + DISORDER_MS;
  }

  /** Whether the range ends on this day. */
  endsOn(day: string): boolean {
    return isoOf(this.#to).startsWith(day);
  }

  isBeforeRange(day: string): boolean {
    return `${day}T23:59:59.999Z` < isoOf(this.#from);
  }

  isAfterRange(day: string): boolean {
    return `${day}T00:00:00.000Z` >= isoOf(this.#to);
  }

  /** Whether the time for this page is over. Throws if the caller has gone. */
  isOver(): boolean {
    this.#options.signal?.throwIfAborted();
    return this.#options.now() > this.#until;
  }
}

function isoOf(time: number): string {
  if (time === Number.NEGATIVE_INFINITY) return '';
  return time === Number.POSITIVE_INFINITY ? '~' : new Date(time).toISOString();
}

/** The position after the last whole line. */
async function endOf(folder: string, segments: readonly Segment[], today: string): Promise<Position> {
  const last = segments.at(-1);
  const content = last && (await openSegment(folder, last));
  if (!last || !content) return { day: today, part: 1, offset: 0 };
  try {
    return { day: last.day, part: last.part, offset: await content.endOfLines() };
  } finally {
    await content.close();
  }
}

/** Null if the segment is gone by now. */
function openSegment(folder: string, segment: Segment): Promise<SegmentContent | null> {
  const path = join(folder, segmentName(segment));
  return segment.isCompressed ? openCompressed(path) : openPlain(path);
}

function formatPosition({ day, part, offset }: Position): string {
  return `${day}.${part}.${Math.min(offset, 999_999_999_999)}`;
}

function parsePosition(cursor: string): Position {
  const [day = '', part = '1', offset = '0'] = cursor.split('.');
  return { day, part: Number(part), offset: Number(offset) };
}
