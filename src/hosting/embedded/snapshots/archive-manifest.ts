import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { createLinesWriter, openLines } from './checked-lines.ts';
import { DamagedArchiveError } from './damaged-archive.ts';

/**
 * The manifest of an archive: JSON, one record per line, so writing and reading hold only one line in memory.
 * First a header, then the entries in archive order, then the totals. The totals contain the checksums of the archive and of all lines
 * above them.
 */

const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Count = Type.Integer({ minimum: 0 });

/** The fields of every header after its format and version. */
export const headerFields = {
  install_id: Type.String(),
  install_name: Type.String(),
  backup_id: Type.String(),
  created_at: Type.String(),
};

export const ManifestHeader = Type.Object({
  format: Type.Literal('homeport-snapshot'),
  version: Type.Literal(1),
  ...headerFields,
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

export const FolderEntry = Type.Object({ type: Type.Literal('directory'), ...Place });
export const LinkEntry = Type.Object({
  type: Type.Literal('symlink'),
  ...Place,
  target: Type.String(),
  target_base64: Type.Optional(Type.String()),
});

/** The fields of every file, whatever its content is kept in. */
export const fileFields = {
  type: Type.Literal('file'),
  ...Place,
  size: Count,
  /** Offset and length of each data part, if the file is archived without its holes. */
  data: Type.Optional(Type.Array(Type.Tuple([Count, Count]))),
  /** The file changed while it was read: this copy is invalid, a later one of the same path may be valid. */
  superseded: Type.Optional(Type.Literal(true)),
};

export const ManifestEntry = Type.Union([
  FolderEntry,
  /** `sha256` is that of the archived content. */
  Type.Object({ ...fileFields, sha256: Hash }),
  LinkEntry,
]);
export type ManifestEntry = Static<typeof ManifestEntry>;

export const counts = {
  /** Regular files, without superseded copies. */
  files: Count,
  directories: Count,
  symlinks: Count,
  /** Pipes, sockets and devices, which are not archived. */
  skipped: Count,
};

export const ManifestTotals = Type.Object({
  ...counts,
  archive_bytes: Count,
  archive_sha256: Hash,
});
export type ManifestTotals = Static<typeof ManifestTotals>;

const LastLine = Compile(Type.Object({ totals: ManifestTotals, manifest_sha256: Hash }));
const isHeader = Compile(ManifestHeader);
const isManifestEntry = Compile(ManifestEntry);

export interface ManifestWriter {
  add(entry: ManifestEntry): Promise<void>;
  /** Writes the totals and makes everything durable. */
  finish(totals: ManifestTotals): Promise<void>;
  /** Closes the file; harmless after `finish`. */
  close(): Promise<void>;
}

/** Begins a manifest in a new file. */
export async function createManifestWriter(path: string, header: ManifestHeader): Promise<ManifestWriter> {
  const lines = await createLinesWriter(path);
  await lines.add(header);
  return {
    add: (entry) => lines.add(entry),
    async finish(totals) {
      await lines.finish({ totals });
    },
    close: () => lines.close(),
  };
}

export interface ManifestReader {
  header: ManifestHeader;
  /** The entries in order, then the totals. */
  next(): Promise<ManifestEntry | ManifestTotals>;
  close(): Promise<void>;
}

export function isEntry(record: ManifestEntry | ManifestTotals): record is ManifestEntry {
  return 'type' in record;
}

/** Opens a manifest. Everything is checked while it is read. Errors: {@link DamagedArchiveError}. */
export async function openManifest(path: string): Promise<ManifestReader> {
  const lines = await openLines(path);
  let last: ManifestTotals | null = null;

  async function next(): Promise<ManifestEntry | ManifestTotals> {
    if (last !== null) return last;
    const { record } = await lines.next();
    if (isManifestEntry.Check(record)) return record;
    if (!LastLine.Check(record)) throw new DamagedArchiveError('its manifest has a line of no known kind');
    last = record.totals;
    return last;
  }

  try {
    const { record } = await lines.next();
    if (!isHeader.Check(record)) throw new DamagedArchiveError('its manifest has no valid header');
    return { header: record, next, close: () => lines.close() };
  } catch (error) {
    await lines.close();
    throw error;
  }
}
