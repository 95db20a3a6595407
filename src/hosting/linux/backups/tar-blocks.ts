/** A tar archive consists of blocks; every part starts at a block. */
export const BLOCK_BYTES = 512;
/** End of an archive. */
export const END_OF_ARCHIVE = Buffer.alloc(2 * BLOCK_BYTES);
const NO_HEADER = Buffer.alloc(BLOCK_BYTES);

const SIZE = { at: 124, bytes: 12 };
const CHECKSUM = { at: 148, bytes: 8 };
const TYPE_AT = 156;
/** The last byte of GNU's sparse header and of its continuation blocks: whether another such block follows. */
const SPARSE = { header: 482, block: 504 };
/** Types of regular files: old format, current, contiguous, sparse, and hard link. */
const FILES = new Set(['\0', '0', '7', 'S', '1']);

/** The header of a regular file of root, in POSIX format (ustar). */
export function fileHeader(name: string, size: number): Buffer {
  const header = Buffer.alloc(BLOCK_BYTES);
  header.write(name, 0, 100, 'utf8');
  header.write('0000600\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  writeSize(header, size);
  header.write('00000000000\0', 136);
  header.write('0', TYPE_AT);
  header.write('ustar\x0000', 257);
  header.fill(' ', CHECKSUM.at, CHECKSUM.at + CHECKSUM.bytes);
  header.write(`${checksumOf(header).toString(8).padStart(6, '0')}\0 `, CHECKSUM.at);
  return header;
}

/** Parses a header; null if the block is not one. */
export function parseHeader(header: Buffer): { name: string; size: number; type: string } | null {
  const sum = Number.parseInt(header.toString('latin1', CHECKSUM.at, CHECKSUM.at + CHECKSUM.bytes), 8);
  const plain = Buffer.from(header);
  plain.fill(' ', CHECKSUM.at, CHECKSUM.at + CHECKSUM.bytes);
  if (sum !== checksumOf(plain)) return null;
  const [name = ''] = header.toString('utf8', 0, 100).split('\0', 1);
  return { name, size: readSize(header), type: String.fromCharCode(header.readUInt8(TYPE_AT)) };
}

/** Zeros that fill the last block of this many bytes. */
export function padding(size: number): Buffer {
  return Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);
}

function checksumOf(header: Buffer): number {
  let sum = 0;
  for (const byte of header) sum += byte;
  return sum;
}

/** Octal, or GNU's binary form from 8 GiB on. */
function writeSize(header: Buffer, size: number): void {
  if (size < 8 ** 11) {
    header.write(`${size.toString(8).padStart(11, '0')}\0`, SIZE.at);
    return;
  }
  header.writeUInt8(0x80, SIZE.at);
  header.writeBigUInt64BE(BigInt(size), SIZE.at + SIZE.bytes - 8);
}

function readSize(header: Buffer): number {
  if ((header.readUInt8(SIZE.at) & 0x80) !== 0)
    return Number(header.readBigUInt64BE(SIZE.at + SIZE.bytes - 8));
  const octal = header.toString('latin1', SIZE.at, SIZE.at + SIZE.bytes).replace(/[\0 ].*$/s, '');
  return octal === '' ? 0 : Number.parseInt(octal, 8);
}

/** Follows the structure of an archive while it is streamed. */
export interface TarWalk {
  /** Takes the next complete blocks, and returns how many of their bytes precede the end of the archive. Throws if they are not tar. */
  push(blocks: Buffer): number;
  /** Number of regular files so far. */
  files(): number;
  /** Whether the end marker has come. */
  hasEnded(): boolean;
  /** Whether the next block begins a new entry. */
  isBetweenEntries(): boolean;
}

export function walkTar(): TarWalk {
  /** Bytes until the next header. */
  let content = 0;
  let files = 0;
  let ended = false;
  let isSparseMap = false;

  function passHeader(block: Buffer): void {
    if (isSparseMap) {
      isSparseMap = block.readUInt8(SPARSE.block) !== 0;
      return;
    }
    if (block.equals(NO_HEADER)) {
      ended = true;
      return;
    }
    const header = parseHeader(block);
    if (header === null) throw new Error('it is not a tar archive');
    if (FILES.has(header.type)) files += 1;
    content = hasContent(header.type) ? header.size + padding(header.size).length : 0;
    isSparseMap = header.type === 'S' && block.readUInt8(SPARSE.header) !== 0;
  }

  return {
    push(blocks) {
      let at = 0;
      while (at < blocks.length && !ended) {
        if (content > 0 && !isSparseMap) {
          const passed = Math.min(content, blocks.length - at);
          content -= passed;
          at += passed;
        } else {
          passHeader(blocks.subarray(at, at + BLOCK_BYTES));
          if (!ended) at += BLOCK_BYTES;
        }
      }
      return at;
    },
    files: () => files,
    hasEnded: () => ended,
    isBetweenEntries: () => content === 0 && !isSparseMap,
  };
}

/** Links, devices and folders may state a size, but no data follows. */
function hasContent(type: string): boolean {
  return !'123456'.includes(type);
}

/** Regroups bytes into chunks of complete blocks; a rest comes last. */
export async function* inBlocks(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    const whole = bytes.length - (bytes.length % BLOCK_BYTES);
    rest = bytes.subarray(whole);
    if (whole > 0) yield bytes.subarray(0, whole);
  }
  if (rest.length > 0) yield rest;
}
