/**
 * Cuts a stream into chunks whose borders depend on the bytes near them only, so bytes that are inserted or deleted change the chunks
 * around them and no others. The border is where a hash of the last 32 bytes ("gear") ends in zeros. Other tables or sizes would be as
 * correct, but find nothing again in what is stored.
 */
export const LEAST_BYTES = 64 * 1024;
export const MOST_BYTES = 1024 * 1024;
/** Databases change in pages that stay where they are, so they are cut at fixed places. */
const DATABASE_BYTES = 64 * 1024;
/** One border in 2^18 bytes: chunks have 320 KiB on average. */
const BORDER_BITS = 18;
const BORDER = ((1 << BORDER_BITS) - 1) << (32 - BORDER_BITS);
const WINDOW = 32;

const GEAR = gearTable();

/** A fixed table of random numbers (the finalizer of MurmurHash3). */
function gearTable(): Int32Array {
  return Int32Array.from({ length: 256 }, (_, byte) => {
    let mixed = Math.imul(byte + 1, 0x9e3779b1);
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return mixed ^ (mixed >>> 16);
  });
}

/** The end of the chunk that begins at `start`. The bytes must hold {@link MOST_BYTES} from there, or be the last. */
function borderAfter(bytes: Uint8Array, start: number): number {
  const end = Math.min(bytes.length, start + MOST_BYTES);
  let at = start + LEAST_BYTES;
  if (at >= end) return end;
  let hash = 0;
  for (let before = at - WINDOW; before < at; before++)
    hash = ((hash << 1) + (GEAR[bytes[before] ?? 0] ?? 0)) | 0;
  for (; at < end; at++) {
    hash = ((hash << 1) + (GEAR[bytes[at] ?? 0] ?? 0)) | 0;
    if ((hash & BORDER) === 0) return at + 1;
  }
  return end;
}

/** Pieces are joined until they have so many bytes, because each joining copies them. */
const JOINED_BYTES = 4 * MOST_BYTES;

export interface ChunkCutter {
  /** Takes the next bytes of the stream, and passes on the chunks that are complete. */
  push(bytes: Uint8Array): void;
  /** Passes on the rest. */
  end(): void;
}

export function createChunkCutter(isDatabase: boolean, take: (chunk: Uint8Array) => void): ChunkCutter {
  let pieces: Uint8Array[] = [];
  let waiting = 0;

  function cut(isLast: boolean): void {
    const [only] = pieces;
    const bytes = pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
    let start = 0;
    while (start < bytes.length && (isLast || bytes.length - start >= MOST_BYTES)) {
      const end = isDatabase ? Math.min(bytes.length, start + DATABASE_BYTES) : borderAfter(bytes, start);
      take(bytes.subarray(start, end));
      start = end;
    }
    pieces = start < bytes.length ? [bytes.subarray(start)] : [];
    waiting = bytes.length - start;
  }

  return {
    push(bytes) {
      if (bytes.length === 0) return;
      pieces.push(bytes);
      waiting += bytes.length;
      if (waiting >= JOINED_BYTES) cut(false);
    },
    end: () => cut(true),
  };
}
