import { createHash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { type ChunkRef, listedChunks } from './chunk-list.ts';
import { readFully } from './disk.ts';

/** The manifest of a backup differs from what was written. `message` continues a sentence. */
export class DamagedListError extends Error {
  override name = 'DamagedListError';
}

/** Of stored-manifest.ts. */
const VERSION = 2;
const READ_BYTES = 1024 * 1024;
const NEWLINE = 10;

/**
 * The chunks of a backup, read from its manifest (stored-manifest.ts). They are proved only at the end, when the checksum of all lines has
 * matched. Errors: {@link DamagedListError}, and those of the system.
 */
export function* chunksOf(manifest: string): Generator<ChunkRef> {
  const hash = createHash('sha256');
  let last: Buffer | null = null;
  for (const line of linesOf(manifest)) {
    if (last === null) requireKnownVersion(line);
    else {
      hash.update(last);
      yield* chunksIn(last);
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
  if (version !== VERSION) throw new DamagedListError('its manifest is of another version of Homeport');
}

function chunksIn(line: Buffer): ChunkRef[] {
  const listed = field(parsed(line), 'chunks');
  const chunks = typeof listed === 'string' ? listedChunks(listed) : [];
  if (chunks === null) throw new DamagedListError('its manifest has a damaged list of chunks');
  return chunks;
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
      let start = 0;
      for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE, start)) {
        yield rest.subarray(start, end + 1);
        start = end + 1;
      }
      rest = rest.subarray(start);
      if (read < READ_BYTES) break;
    }
    if (rest.length > 0) throw new DamagedListError('its manifest ends too early');
  } finally {
    closeSync(file);
  }
}
