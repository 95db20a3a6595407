import { createHash } from 'node:crypto';
import { messageOf } from '../../../lib/error-message.ts';
import type { Snapshot } from '../../contract/snapshots.ts';
import {
  DamagedBackupError,
  DESCRIPTION_NAME,
  type Description,
  DUMP_NAME,
  KEPT_NAME,
  MOST_DESCRIPTION_BYTES,
  MOST_KEPT_BYTES,
  parseDescription,
  parseTail,
  TAIL_BYTES,
} from './archive-manifest.ts';
import { BLOCK_BYTES, padding, parseHeader, walkTar } from './tar-blocks.ts';

/** Receives the parts of a backup in order. They are not verified until {@link readArchive} has resolved. */
export interface ArchiveReader {
  /** Receives the archive as it is, before its parts. */
  raw?(bytes: Buffer): Promise<void>;
  description?(description: Description): Promise<void> | void;
  /** `at`: where the dump begins in the archive. */
  dumpBegins?(at: number): void;
  dump?(bytes: Buffer): Promise<void>;
  dumpEnded?(): Promise<void> | void;
  /** `kept.list` of an archive of changes, in latin1. */
  kept?(list: string): Promise<void> | void;
  filesBegin?(at: number): void;
  /** Members as tar wrote them, without the end of the archive. */
  files?(bytes: Buffer): Promise<void>;
}

/**
 * Reads a backup (archive-manifest.ts) and verifies structure, size, number of files and checksum. Rejects with a
 * {@link DamagedBackupError}, or with the reader's error.
 */
export async function readArchive(
  archive: AsyncIterable<Buffer>,
  reader: ArchiveReader = {},
): Promise<Snapshot> {
  const hash = createHash('sha256');
  const bytes = { before: 0 };
  let tail: Buffer = Buffer.alloc(0);

  /** Everything but the tail, which can only be recognized once nothing follows. */
  async function* body(): AsyncGenerator<Buffer> {
    for await (const piece of archive) {
      await reader.raw?.(piece);
      const held = tail.length === 0 ? piece : Buffer.concat([tail, piece]);
      const end = Math.max(0, held.length - TAIL_BYTES);
      tail = held.subarray(end);
      if (end === 0) continue;
      const before = held.subarray(0, end);
      hash.update(before);
      bytes.before += end;
      yield before;
    }
  }

  const source = cursorOf(body());
  const description = await readDescription(source);
  await reader.description?.(description);
  await readDump(source, reader);
  if (description.base !== undefined) {
    const kept = await readKept(source);
    await reader.kept?.(kept);
  }
  reader.filesBegin?.(source.position());
  const walk = walkTar();
  for (let piece = await source.blocks(); piece !== null; piece = await source.blocks()) {
    if (parsed(() => walk.push(piece)) !== piece.length)
      throw new DamagedBackupError('it has data after its end');
    await reader.files?.(piece);
  }
  if (tail.length < TAIL_BYTES || !walk.isBetweenEntries()) throw new DamagedBackupError('it ends too early');

  const manifest = parseTail(tail);
  const isWhole =
    manifest.bytes === bytes.before &&
    manifest.files === walk.files() &&
    manifest.sha256 === hash.copy().digest('hex');
  if (!isWhole) throw new DamagedBackupError('its checksum does not match');
  hash.update(tail);
  return { bytes: bytes.before + TAIL_BYTES, files: manifest.files, sha256: hash.digest('hex') };
}

async function readDescription(source: Cursor): Promise<Description> {
  const size = await readHeader(source, DESCRIPTION_NAME);
  if (size > MOST_DESCRIPTION_BYTES) throw new DamagedBackupError(`its ${DESCRIPTION_NAME} is too long`);
  const content = await source.take(size);
  await source.take(padding(size).length);
  return parseDescription(content.toString('utf8'));
}

async function readDump(source: Cursor, reader: ArchiveReader): Promise<void> {
  const size = await readHeader(source, DUMP_NAME);
  reader.dumpBegins?.(source.position());
  for (let left = size; left > 0; ) {
    const piece = await source.upTo(left);
    left -= piece.length;
    await reader.dump?.(piece);
  }
  await source.take(padding(size).length);
  await reader.dumpEnded?.();
}

async function readKept(source: Cursor): Promise<string> {
  const size = await readHeader(source, KEPT_NAME);
  if (size > MOST_KEPT_BYTES) throw new DamagedBackupError(`its ${KEPT_NAME} is too long`);
  const pieces: Buffer[] = [];
  for (let left = size; left > 0; ) {
    const piece = await source.upTo(left);
    left -= piece.length;
    pieces.push(piece);
  }
  await source.take(padding(size).length);
  return Buffer.concat(pieces).toString('latin1');
}

async function readHeader(source: Cursor, name: string): Promise<number> {
  const header = parseHeader(await source.take(BLOCK_BYTES));
  if (header?.name !== name) throw new DamagedBackupError(`it has no ${name} in its place`);
  return header.size;
}

function parsed<Result>(parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    throw new DamagedBackupError(messageOf(error), { cause: error });
  }
}

interface Cursor {
  /** Bytes that were taken. */
  position(): number;
  /** Exactly this many bytes. */
  take(count: number): Promise<Buffer>;
  /** At least one byte, and at most this many. */
  upTo(count: number): Promise<Buffer>;
  /** The next complete blocks; null at the end. */
  blocks(): Promise<Buffer | null>;
}

/** Reads from chunks of any length. Rejects with a {@link DamagedBackupError} at the end of the data. */
function cursorOf(pieces: AsyncGenerator<Buffer>): Cursor {
  let rest: Buffer = Buffer.alloc(0);
  let taken = 0;

  async function more(): Promise<boolean> {
    const { value, done } = await pieces.next();
    if (done === true) return false;
    rest = rest.length === 0 ? value : Buffer.concat([rest, value]);
    return true;
  }

  async function atLeast(count: number): Promise<void> {
    while (rest.length < count) if (!(await more())) throw new DamagedBackupError('it ends too early');
  }

  function cut(count: number): Buffer {
    const piece = rest.subarray(0, count);
    rest = rest.subarray(count);
    taken += count;
    return piece;
  }

  return {
    position: () => taken,
    async take(count) {
      await atLeast(count);
      return cut(count);
    },
    async upTo(count) {
      await atLeast(1);
      return cut(Math.min(count, rest.length));
    },
    async blocks() {
      while (rest.length < BLOCK_BYTES) {
        if (await more()) continue;
        if (rest.length === 0) return null;
        throw new DamagedBackupError('it ends within a block');
      }
      return cut(rest.length - (rest.length % BLOCK_BYTES));
    },
  };
}
