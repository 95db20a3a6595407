/** A line within a buffer, without its line feed. */
export interface FoundLine {
  start: number;
  end: number;
}

const LINE_FEED = 0x0a;
/** Larger strings are outside of the young generation. Making them takes several times as long as the search. */
const PIECE = 64 * 1024;

/** Lines of a buffer that contain the needle, last first. `needle`: lower case; null for every line. */
export function* linesFromEnd(buffer: Buffer, needle: string | null): Generator<FoundLine> {
  // A search for a pattern goes forwards only.
  if (needle !== null) return yield* [...linesFromStart(buffer, needle)].reverse();
  let end = buffer.length;
  while (end > 0) {
    const start = end < 2 ? 0 : buffer.lastIndexOf(LINE_FEED, end - 2) + 1;
    const feed = buffer.indexOf(LINE_FEED, Math.max(end - 2, start));
    yield { start, end: feed < 0 ? end : feed };
    end = start;
  }
}

/** The same, first line first. */
export function* linesFromStart(buffer: Buffer, needle: string | null): Generator<FoundLine> {
  if (needle === null) return yield* linesWithin(buffer, 0, buffer.length);
  // Half the processor time of a search in the lower case of the whole buffer.
  const pattern = new RegExp(needle.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'gi');
  for (let start = 0; start < buffer.length; ) {
    const end = endOfLine(buffer, start + PIECE);
    yield* hitsWithin(buffer, start, end, pattern);
    start = end;
  }
}

function* linesWithin(buffer: Buffer, from: number, upTo: number): Generator<FoundLine> {
  for (let start = from; start < upTo; ) {
    const next = endOfLine(buffer, start);
    yield { start, end: withoutFeed(buffer, next) };
    start = next;
  }
}

/** The lines of a piece of whole lines that match. */
function* hitsWithin(buffer: Buffer, from: number, upTo: number, pattern: RegExp): Generator<FoundLine> {
  const text = buffer.toString('latin1', from, upTo);
  pattern.lastIndex = 0;
  for (let hit = pattern.exec(text); hit !== null; hit = pattern.exec(text)) {
    const start = buffer.lastIndexOf(LINE_FEED, from + hit.index) + 1;
    const next = endOfLine(buffer, from + hit.index);
    yield { start, end: withoutFeed(buffer, next) };
    pattern.lastIndex = next - from;
  }
}

/** The place after the line feed at or after this one; the end of the buffer if there is none. */
export function endOfLine(buffer: Buffer, from: number): number {
  const feed = from < buffer.length ? buffer.indexOf(LINE_FEED, from) : -1;
  return feed < 0 ? buffer.length : feed + 1;
}

function withoutFeed(buffer: Buffer, end: number): number {
  return buffer[end - 1] === LINE_FEED ? end - 1 : end;
}
