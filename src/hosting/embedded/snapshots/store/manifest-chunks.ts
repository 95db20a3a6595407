import { createHash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { type ChunkRef, listedChunks } from './chunk-list.ts';
import { readFully } from './disk.ts';

/** The manifest of a backup differs from what was written. `message` continues a sentence. */
export class DamagedListError extends Error {
  override name = 'DamagedListError';
}

/** Of stored-manifest.ts. The first one has the entries in the manifest, and no chunks with entries. */
export const VERSION = 3;
export const FIRST_VERSION = 2;
const READ_BYTES = 1024 * 1024;
const NEWLINE = 10;

export interface ListReading {
  /** Reads a chunk with entries. */
  read(chunk: ChunkRef): Buffer;
  /** Whether the entries of a chunk need not be read again, as another backup has them. Default: none. */
  isKnown?(chunk: ChunkRef): boolean;
}

/**
 * The chunks of a backup, read from its manifest (stored-manifest.ts): those with entries, and those with contents. They are proved only
 * at the end, when the checksum of all lines has matched. Errors: {@link DamagedListError}, and those of the system and of `read`.
 */
export function* chunksOf(
  manifest: string,
  { read, isKnown = () => false }: ListReading,
): Generator<ChunkRef> {
  const hash = createHash('sha256');
  let last: Buffer | null = null;
  for (const line of linesOf(manifest)) {
    if (last === null) requireKnownVersion(line);
    else {
      hash.update(last);
      yield* chunksIn(last, 'chunks');
      for (const list of chunksIn(last, 'entries')) {
        yield list;
        if (!isKnown(list)) for (const entry of linesIn(read(list))) yield* chunksIn(entry, 'chunks');
      }
    }
    last = line;
  }
  const end = last === null ? null : parsed(last);
  if (end === null || field(end, 'manifest_sha256') !== hash.digest('hex')) {
    throw new DamagedListError('the checksum of its manifest does not match');
  }
}

/** The chunks of a backup of a newer version may be listed elsewhere. */
function requireKnownVersion(header: Buffer): void {
  const version = field(parsed(header), 'version') ?? VERSION;
  if (version !== VERSION && version !== FIRST_VERSION) {
    throw new DamagedListError('its manifest is of another version of Homeport');
  }
}

function chunksIn(line: Buffer, name: 'chunks' | 'entries'): ChunkRef[] {
  if (!line.includes(`"${name}":`)) return [];
  const listed = field(parsed(line), name);
  const chunks = typeof listed === 'string' ? listedChunks(listed) : [];
  if (chunks === null) throw new DamagedListError('its manifest has a damaged list of chunks');
  return chunks;
}

/** Lines of a text that ends with one. */
function* linesIn(bytes: Buffer): Generator<Buffer> {
  let start = 0;
  for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
    yield bytes.subarray(start, end + 1);
    start = end + 1;
  }
}

function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString());
  } catch {
    throw new DamagedListError('its manifest has a line that is not JSON');
  }
}

const field = (value: unknown, name: string): unknown => Reflect.get(Object(value), name);

/** Lines with their ends. */
function* linesOf(path: string): Generator<Buffer> {
  const file = openSync(path, 'r');
  try {
    let rest: Buffer = Buffer.alloc(0);
    for (let position = 0; ; ) {
      const piece = Buffer.allocUnsafeSlow(READ_BYTES);
      const read = readFully(file, piece, position);
      position += read;
      rest = Buffer.concat([rest, piece.subarray(0, read)]);
      yield* linesIn(rest);
      rest = rest.subarray(rest.lastIndexOf(NEWLINE) + 1);
      if (read < READ_BYTES) break;
    }
    if (rest.length > 0) throw new DamagedListError('its manifest ends too early');
  } finally {
    closeSync(file);
  }
}
