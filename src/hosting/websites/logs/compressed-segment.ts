import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import { mapAhead } from '../../../lib/concurrency.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { contentOf } from './plain-segment.ts';
import { type Block, SEGMENT_BYTES, type SegmentContent } from './segments.ts';

/** Frames that threads decompress while an earlier one is searched. */
const AHEAD = 2;

/** Most frames are smaller. */
const CHUNK = 256 * 1024;
/** Node accepts no chunks below 64 bytes. */
const SPARE = 64;

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/**
 * The table of the frames, in a frame that programs such as `zstdcat` skip: head, entries and foot, without checksums.
 * https://github.com/facebook/zstd/blob/dev/contrib/seekable_format/zstd_seekable_compression_format.md
 */
const TABLE = { magic: 0x184d2a5e, head: 8, entry: 8, foot: 9, footMagic: 0x8f92eab1 };

/** Compresses blocks of whole lines, each as a frame of its own, so that a reader needs no more than the frames it looks for. */
export async function* compressBlocks(blocks: AsyncIterable<Block>): AsyncGenerator<Buffer> {
  const entries: Buffer[] = [];
  for await (const { buffer } of blocks) {
    const frame = await compress(buffer, { chunkSize: CHUNK });
    entries.push(numbers(frame.length, buffer.length));
    yield frame;
  }
  const size = entries.length * TABLE.entry + TABLE.foot;
  // Byte 4 of the foot says that there are no checksums.
  const foot = [numbers(entries.length), Buffer.alloc(1), numbers(TABLE.footMagic)];
  yield Buffer.concat([numbers(TABLE.magic, size), ...entries, ...foot]);
}

function numbers(...values: number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32LE(value, 4 * index);
  return bytes;
}

/** Opens a compressed segment; null if it is gone by now. */
export async function openCompressed(path: string): Promise<SegmentContent | null> {
  const bytes = await ifThere(readFile(path));
  if (bytes === null) return null;
  const frames = framesOf(bytes);
  return frames === null ? openWhole(bytes) : fromFrames(frames);
}

/** Earlier versions compressed a segment as one frame. */
async function openWhole(bytes: Buffer): Promise<SegmentContent> {
  const content = await decompress(bytes, { maxOutputLength: 2 * SEGMENT_BYTES, chunkSize: SEGMENT_BYTES });
  return contentOf(
    content.length,
    async (start, end) => content.subarray(start, end),
    async () => {},
  );
}

interface Frame {
  compressed: Buffer;
  /** Of the uncompressed lines. */
  start: number;
  size: number;
}

/** The frames that the table names; null without a table. */
function framesOf(bytes: Buffer): Frame[] | null {
  const foot = bytes.length - TABLE.foot;
  if (foot < TABLE.head || bytes.readUInt32LE(foot + 5) !== TABLE.footMagic) return null;
  const frames: Frame[] = [];
  let start = 0;
  let from = 0;
  for (let entry = foot - bytes.readUInt32LE(foot) * TABLE.entry; entry < foot; entry += TABLE.entry) {
    const length = bytes.readUInt32LE(entry);
    const size = bytes.readUInt32LE(entry + 4);
    frames.push({ compressed: bytes.subarray(from, from + length), start, size });
    from += length;
    start += size;
  }
  return frames;
}

function fromFrames(frames: readonly Frame[]): SegmentContent {
  const last = frames.at(-1);
  const size = last === undefined ? 0 : last.start + last.size;
  return {
    size,
    async *blocksBefore(end) {
      const wanted = frames.filter(({ start }) => start < end).reverse();
      for await (const { buffer, start } of mapAhead(wanted, AHEAD, blockOf)) {
        yield { buffer: buffer.subarray(0, end - start), start };
      }
    },
    async *blocksFrom(from) {
      const wanted = frames.filter((frame) => frame.start + frame.size > from);
      for await (const { buffer, start } of mapAhead(wanted, AHEAD, blockOf)) {
        const skipped = Math.max(0, from - start);
        yield { buffer: buffer.subarray(skipped), start: start + skipped };
      }
    },
    endOfLines: async () => size,
    close: async () => {},
  };
}

/** With room to spare, the decompression needs no second turn to see that it is done. */
async function blockOf({ compressed, start, size }: Frame): Promise<Block> {
  return { buffer: await decompress(compressed, { chunkSize: size + SPARE, maxOutputLength: size }), start };
}
