import { archivedName } from '../../websites/backup-contents/archive-names.ts';
import type { IndexedEntry } from '../../websites/backup-contents/contents-file.ts';
import { BLOCK_BYTES, padding, parseHeader } from './tar-blocks.ts';

/** Entries that say something about the next one: GNU's long names of an entry and of its link. */
const LONG_NAME = 'L';
const LONG_LINK = 'K';
const MOST_NAME_BYTES = 64 * 1024;
const MTIME = { at: 136, bytes: 12 };
const LINK = { at: 157, bytes: 100 };
const PREFIX_AT = 345;
/** GNU's sparse header: four parts of 24 bytes, whether more follow, and the real size. A continuation block has 21 parts. */
const SPARSE = {
  partsAt: 386,
  parts: 4,
  extendedAt: 482,
  realSizeAt: 483,
  morePartsAt: 0,
  moreParts: 21,
  moreAt: 504,
};
const NUMBER_BYTES = 12;
/** Old format, current, contiguous, sparse, and hard link. */
const FILES = new Set(['\0', '0', '7', 'S', '1']);

export interface DataPart {
  offset: number;
  length: number;
}

/** A member of an archive that GNU tar wrote. `place` and `length` include its long names. */
export interface TarEntry extends IndexedEntry {
  /** Where the data of a sparse file belongs; null for an ordinary one. */
  parts: DataPart[] | null;
}

export interface TarEntryReader {
  /** Takes the next complete blocks. */
  push(blocks: Buffer): Promise<void>;
}

/**
 * Reads the members of an archive while it is streamed. `content` gets the data of files. Names that are not UTF-8 get a readable
 * substitute. Pipes and devices are left out.
 *
 * @param start where the first block is in the whole archive
 */
export function readTarEntries(
  start: number,
  {
    entry,
    content,
  }: { entry(found: TarEntry): void | Promise<void>; content?(bytes: Buffer): Promise<void> },
): TarEntryReader {
  let position = start;
  /** Where the present member began, with its long names. */
  let begin = start;
  /** Bytes until the next header: of data, and with their padding. */
  let data = 0;
  let rest = 0;
  let longText: { type: string; bytes: Buffer[] } | null = null;
  let longName: Buffer | null = null;
  let longLink: Buffer | null = null;
  let sparse: { found: TarEntry; parts: DataPart[] } | null = null;
  let hasEnded = false;

  function takeHeader(block: Buffer): TarEntry | null {
    const header = parseHeader(block);
    if (header === null) {
      hasEnded = true;
      return null;
    }
    const { type, size } = header;
    const hasData = !'123456'.includes(type);
    data = hasData ? size : 0;
    rest = hasData ? size + padding(size).length : 0;
    if (type === LONG_NAME || type === LONG_LINK) {
      if (size > MOST_NAME_BYTES) throw new Error('a name in it is too long');
      longText = { type, bytes: [] };
      return null;
    }
    const path = archivedName(longName ?? nameOf(block)).text.replace(/\/+$/, '');
    const link = archivedName(longLink ?? cut(block, LINK.at, LINK.bytes)).text;
    const place = begin;
    [longName, longLink] = [null, null];
    const kind = kindOf(type);
    if (kind === null) return null;
    return {
      path,
      type: kind,
      bytes: kind === 'file' ? (type === 'S' ? numberAt(block, SPARSE.realSizeAt) : size) : null,
      modifiedAt: numberAt(block, MTIME.at),
      target: kind === 'link' ? link : null,
      ...(type === '1' ? { sameAs: link } : {}),
      place,
      length: position + BLOCK_BYTES + rest - place,
      parts: type === 'S' ? partsIn(block, SPARSE.partsAt, SPARSE.parts) : null,
    };
  }

  async function takeData(bytes: Buffer): Promise<void> {
    const own = bytes.subarray(0, data);
    data -= own.length;
    rest -= bytes.length;
    if (longText === null) {
      if (own.length > 0) await content?.(own);
      return;
    }
    longText.bytes.push(Buffer.from(own));
    if (rest > 0) return;
    const whole = Buffer.concat(longText.bytes);
    const text = whole.subarray(0, whole.indexOf(0) < 0 ? whole.length : whole.indexOf(0));
    if (longText.type === LONG_NAME) longName = text;
    else longLink = text;
    longText = null;
  }

  return {
    async push(blocks) {
      for (let at = 0; at < blocks.length && !hasEnded; ) {
        if (sparse !== null) {
          const block = blocks.subarray(at, at + BLOCK_BYTES);
          sparse.parts.push(...partsIn(block, SPARSE.morePartsAt, SPARSE.moreParts));
          sparse.found.length += BLOCK_BYTES;
          position += BLOCK_BYTES;
          at += BLOCK_BYTES;
          if (block.readUInt8(SPARSE.moreAt) !== 0) continue;
          const { found } = sparse;
          sparse = null;
          await entry(found);
          if (rest === 0) begin = position;
          continue;
        }
        if (rest > 0) {
          const piece = blocks.subarray(at, at + Math.min(rest, blocks.length - at));
          const isName = longText !== null;
          await takeData(piece);
          position += piece.length;
          at += piece.length;
          if (rest === 0 && !isName) begin = position;
          continue;
        }
        const block = blocks.subarray(at, at + BLOCK_BYTES);
        const found = takeHeader(block);
        position += BLOCK_BYTES;
        at += BLOCK_BYTES;
        if (found !== null && found.parts !== null && block.readUInt8(SPARSE.extendedAt) !== 0) {
          sparse = { found, parts: found.parts };
          continue;
        }
        if (found !== null) await entry(found);
        if (rest === 0 && longText === null) begin = position;
      }
    },
  };
}

function kindOf(type: string): IndexedEntry['type'] | null {
  if (type === '5') return 'folder';
  if (type === '2') return 'link';
  return FILES.has(type) ? 'file' : null;
}

function nameOf(block: Buffer): Buffer {
  const name = cut(block, 0, 100);
  // GNU's own headers use that place for something else.
  const isPosix = block.toString('latin1', 257, 263) === 'ustar\0';
  const prefix = isPosix ? cut(block, PREFIX_AT, 155) : Buffer.alloc(0);
  return prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from('/'), name]);
}

function cut(block: Buffer, at: number, bytes: number): Buffer {
  const field = block.subarray(at, at + bytes);
  const end = field.indexOf(0);
  return end < 0 ? field : field.subarray(0, end);
}

function partsIn(block: Buffer, at: number, count: number): DataPart[] {
  const parts: DataPart[] = [];
  for (let index = 0; index < count; index += 1) {
    const place = at + index * 2 * NUMBER_BYTES;
    if (block.readUInt8(place + NUMBER_BYTES) === 0) break;
    parts.push({ offset: numberAt(block, place), length: numberAt(block, place + NUMBER_BYTES) });
  }
  return parts;
}

/** Octal, or GNU's binary form. */
function numberAt(block: Buffer, at: number): number {
  if ((block.readUInt8(at) & 0x80) !== 0) return Number(block.readBigInt64BE(at + NUMBER_BYTES - 8));
  const octal = block.toString('latin1', at, at + NUMBER_BYTES).replace(/[\0 ].*$/s, '');
  return octal === '' ? 0 : Number.parseInt(octal, 8);
}
