import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import Type, { type Static } from 'typebox';
import { Value } from 'typebox/value';

/**
 * The manifest of an archive: JSON, one record per line, so writing and reading hold only one line in memory.
 * First a header, then the entries in archive order, then the totals. The totals contain the checksums of the archive and of all lines
 * above them.
 */

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Count = Type.Integer({ minimum: 0 });

export const ManifestHeader = Type.Object({
  format: Type.Literal('homeport-snapshot'),
  version: Type.Literal(1),
  install_id: Type.String(),
  install_name: Type.String(),
  backup_id: Type.String(),
  created_at: Type.String(),
});
export type ManifestHeader = Static<typeof ManifestHeader>;

const Place = {
  /** Relative to the website's folder, which is `.` itself; as in the archive. */
  path: Type.String({ minLength: 1 }),
  /** The exact name if it is not UTF-8; `path` then only resembles it. */
  path_base64: Type.Optional(Type.String()),
  /** Permission bits, including setuid and similar. */
  mode: Type.Integer({ minimum: 0, maximum: 0o7777 }),
  /** Nanoseconds since 1970, a string because they exceed a double's precision. */
  mtime_ns: Type.String({ pattern: '^-?[0-9]{1,20}$' }),
};

export const ManifestEntry = Type.Union([
  Type.Object({ type: Type.Literal('directory'), ...Place }),
  Type.Object({
    type: Type.Literal('file'),
    ...Place,
    size: Count,
    /** SHA-256 of the archived content. */
    sha256: Hash,
    /** Offset and length of each data part, if the file is archived without its holes. */
    data: Type.Optional(Type.Array(Type.Tuple([Count, Count]))),
    /** The file changed while it was read: this copy is invalid, a later one of the same path may be valid. */
    superseded: Type.Optional(Type.Literal(true)),
  }),
  Type.Object({
    type: Type.Literal('symlink'),
    ...Place,
    target: Type.String(),
    target_base64: Type.Optional(Type.String()),
  }),
]);
export type ManifestEntry = Static<typeof ManifestEntry>;

export const ManifestTotals = Type.Object({
  /** Regular files, without superseded copies. */
  files: Count,
  directories: Count,
  symlinks: Count,
  /** Pipes, sockets and devices, which are not archived. */
  skipped: Count,
  archive_bytes: Count,
  archive_sha256: Hash,
});
export type ManifestTotals = Static<typeof ManifestTotals>;

const LastLine = Type.Object({ totals: ManifestTotals, manifest_sha256: Hash });

/** The manifest or the archive differs from what was written. `message` says what is wrong, without a final full stop. */
export class DamagedArchiveError extends Error {
  override name = 'DamagedArchiveError';
}

export interface ManifestWriter {
  add(entry: ManifestEntry): Promise<void>;
  /** Writes the totals and makes everything durable. */
  finish(totals: ManifestTotals): Promise<void>;
  /** Closes the file; harmless after `finish`. */
  close(): Promise<void>;
}

const WRITE_BYTES = 64 * 1024;

/** Begins a manifest in a new file. */
export async function createManifestWriter(path: string, header: ManifestHeader): Promise<ManifestWriter> {
  const file: FileHandle = await open(path, 'wx', 0o600);
  const hash = createHash('sha256');
  let pending = '';

  async function write(record: unknown, atLeast: number): Promise<void> {
    pending += `${JSON.stringify(record)}\n`;
    if (pending.length < atLeast) return;
    const lines = pending;
    pending = '';
    hash.update(lines);
    await file.appendFile(lines);
  }

  await write(header, WRITE_BYTES);
  return {
    add: (entry) => write(entry, WRITE_BYTES),
    async finish(totals) {
      hash.update(pending);
      await write({ totals, manifest_sha256: hash.copy().digest('hex') }, 0);
      await file.sync();
    },
    close: () => file.close(),
  };
}

export interface ManifestReader {
  header: ManifestHeader;
  /** The entries in order, then the totals. */
  next(): Promise<ManifestEntry | ManifestTotals>;
  close(): void;
}

export function isEntry(record: ManifestEntry | ManifestTotals): record is ManifestEntry {
  return 'type' in record;
}

/** Opens a manifest. Everything is checked while it is read. Errors: {@link DamagedArchiveError}. */
export async function openManifest(path: string): Promise<ManifestReader> {
  const stream = createReadStream(path);
  const lines = createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY });
  const iterator = lines[Symbol.asyncIterator]();
  const hash = createHash('sha256');
  let last: ManifestTotals | null = null;

  async function nextLine(): Promise<string> {
    const { value, done } = await iterator.next();
    if (done) throw new DamagedArchiveError('its manifest ends too early');
    return value;
  }

  function close(): void {
    lines.close();
    stream.destroy();
  }

  async function next(): Promise<ManifestEntry | ManifestTotals> {
    if (last !== null) return last;
    const line = await nextLine();
    const record = parseLine(line);
    if (Value.Check(ManifestEntry, record)) {
      hash.update(`${line}\n`);
      return record;
    }
    if (!Value.Check(LastLine, record))
      throw new DamagedArchiveError('its manifest has a line of no known kind');
    if (hash.digest('hex') !== record.manifest_sha256) {
      throw new DamagedArchiveError('the checksum of its manifest does not match');
    }
    last = record.totals;
    return last;
  }

  try {
    const line = await nextLine();
    const header = parseLine(line);
    if (!Value.Check(ManifestHeader, header))
      throw new DamagedArchiveError('its manifest has no valid header');
    hash.update(`${line}\n`);
    return { header, next, close };
  } catch (error) {
    close();
    throw error;
  }
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new DamagedArchiveError('its manifest has a line that is not JSON');
  }
}
