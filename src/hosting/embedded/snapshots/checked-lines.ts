import { createHash, hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import { DamagedArchiveError } from './damaged-archive.ts';

/** A file of JSON records, one per line. The last one has the SHA-256 of all lines above it as `manifest_sha256`. */
export interface LinesWriter {
  add(record: object): Promise<void>;
  /** Writes the last record, and makes everything durable. Returns the checksum. */
  finish(record: object): Promise<string>;
  /** Closes the file; harmless after `finish`. */
  close(): Promise<void>;
}

const WRITE_BYTES = 64 * 1024;
const READ_BYTES = 256 * 1024;
const NEWLINE = 10;

/** Begins a new file. Memory holds a few lines at a time. */
export async function createLinesWriter(path: string): Promise<LinesWriter> {
  const file: FileHandle = await open(path, 'wx', 0o600);
  const sum = createHash('sha256');
  let pending = '';

  async function write(): Promise<void> {
    const lines = pending;
    pending = '';
    await file.appendFile(lines);
  }

  return {
    async add(record) {
      pending += `${JSON.stringify(record)}\n`;
      if (pending.length < WRITE_BYTES) return;
      sum.update(pending);
      await write();
    },
    async finish(record) {
      const manifest_sha256 = sum.update(pending).digest('hex');
      pending += `${JSON.stringify({ ...record, manifest_sha256 })}\n`;
      await write();
      await file.sync();
      return manifest_sha256;
    },
    close: () => file.close(),
  };
}

export interface CheckedLine {
  record: unknown;
  /** The checksum of the file, in its last line. It has matched. */
  checksum: string | null;
}

export interface LinesReader {
  /** Errors: {@link DamagedArchiveError}. */
  next(): Promise<CheckedLine>;
  close(): Promise<void>;
}

export async function openLines(path: string): Promise<LinesReader> {
  const file = await open(path, 'r');
  const sum = createHash('sha256');
  let lines: string[] = [];
  let at = 0;
  let rest: Buffer = Buffer.alloc(0);

  /** The next line, without its end. */
  async function nextLine(): Promise<string> {
    while (at >= lines.length) {
      const piece = Buffer.allocUnsafe(READ_BYTES);
      const { bytesRead } = await file.read(piece, 0, READ_BYTES);
      if (bytesRead === 0) throw new DamagedArchiveError('its manifest ends too early');
      rest = Buffer.concat([rest, piece.subarray(0, bytesRead)]);
      const end = rest.lastIndexOf(NEWLINE);
      if (end < 0) continue;
      lines = rest.toString('utf8', 0, end).split('\n');
      at = 0;
      rest = rest.subarray(end + 1);
    }
    const line = lines[at] ?? '';
    at += 1;
    return line;
  }

  async function isAtEnd(): Promise<boolean> {
    if (at < lines.length || rest.length > 0) return false;
    return (await file.read(Buffer.alloc(1))).bytesRead === 0;
  }

  return {
    async next() {
      const line = await nextLine();
      const record = parseLine(line);
      const checksum: unknown = Reflect.get(Object(record), 'manifest_sha256');
      if (checksum === undefined) {
        sum.update(`${line}\n`);
        return { record, checksum: null };
      }
      const found = sum.digest('hex');
      if (checksum !== found) throw new DamagedArchiveError('the checksum of its manifest does not match');
      if (!(await isAtEnd())) throw new DamagedArchiveError('its manifest goes on after its end');
      return { record, checksum: found };
    },
    close: () => file.close(),
  };
}

/** The first and the last record of a whole file, whose checksum has matched. Errors: {@link DamagedArchiveError}. */
export function endLines(bytes: Buffer): CheckedLine & { first: unknown } {
  const lastByte = bytes.length - 1;
  if (bytes[lastByte] !== NEWLINE) throw new DamagedArchiveError('its manifest ends too early');
  const last = lastByte === 0 ? 0 : bytes.lastIndexOf(NEWLINE, lastByte - 1) + 1;
  const record = parseLine(bytes.toString('utf8', last, lastByte));
  const checksum: unknown = Reflect.get(Object(record), 'manifest_sha256');
  if (checksum === undefined) throw new DamagedArchiveError('its manifest ends too early');
  const found = hash('sha256', bytes.subarray(0, last));
  if (checksum !== found) throw new DamagedArchiveError('the checksum of its manifest does not match');
  return { first: parseLine(bytes.toString('utf8', 0, bytes.indexOf(NEWLINE))), record, checksum: found };
}

/** Errors: {@link DamagedArchiveError}. */
export function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new DamagedArchiveError('its manifest has a line that is not JSON');
  }
}
