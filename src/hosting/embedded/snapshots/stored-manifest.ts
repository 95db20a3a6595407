import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { counts, FolderEntry, fileFields, headerFields, LinkEntry } from './archive-manifest.ts';
import { createLinesWriter, openLines } from './checked-lines.ts';
import { DamagedArchiveError } from './damaged-archive.ts';

/**
 * The manifest of a backup whose contents are in the chunks of a store (store/chunk-store.ts): a header, the entries in the order of
 * archive-tree.ts, then the totals. store/manifest-chunks.ts reads it as well.
 */
const VERSION = 2;

export const StoredHeader = Type.Object({
  format: Type.Literal('homeport-snapshot'),
  version: Type.Literal(VERSION),
  ...headerFields,
});
export type StoredHeader = Static<typeof StoredHeader>;

export const StoredFile = Type.Object({
  ...fileFields,
  /** Its chunks in base64, as in store/chunk-list.ts. None of a superseded copy. */
  chunks: Type.String(),
  /**
   * Inode and time of the last change. A file of the same place, size and times has the same content. Missing if a later change could
   * look the same: of databases, and of files that changed right before they were read.
   */
  state: Type.Optional(Type.String()),
});
export type StoredFile = Static<typeof StoredFile>;

export const StoredEntry = Type.Union([FolderEntry, StoredFile, LinkEntry]);
export type StoredEntry = Static<typeof StoredEntry>;

const Count = Type.Integer({ minimum: 0 });
export const StoredTotals = Type.Object({
  ...counts,
  /** Of the contents, without holes. */
  bytes: Count,
  /** Bytes that the backup has added to the store. */
  stored_bytes: Count,
});
export type StoredTotals = Static<typeof StoredTotals>;

const isHeader = Compile(StoredHeader);
const isStoredEntry = Compile(StoredEntry);
const isLastLine = Compile(Type.Object({ totals: StoredTotals }));

const isOfNewerVersion = (header: unknown): boolean =>
  Number(Reflect.get(Object(header), 'version')) > VERSION;

export interface StoredManifestWriter {
  add(entry: StoredEntry): Promise<void>;
  /** Writes the totals, makes everything durable, and returns the checksum of the manifest. */
  finish(totals: StoredTotals): Promise<string>;
  /** Closes the file; harmless after `finish`. */
  close(): Promise<void>;
}

export async function createStoredManifest(
  path: string,
  header: StoredHeader,
): Promise<StoredManifestWriter> {
  const lines = await createLinesWriter(path);
  await lines.add(header);
  return {
    add: (entry) => lines.add(entry),
    finish: (totals) => lines.finish({ totals }),
    close: () => lines.close(),
  };
}

/** The end of a manifest. Its checksum covers all lines. */
export interface ManifestEnd {
  totals: StoredTotals;
  sha256: string;
}

export interface StoredManifestReader {
  header: StoredHeader;
  /** The entries in order, then the end. */
  next(): Promise<StoredEntry | ManifestEnd>;
  close(): Promise<void>;
}

export const isStored = (record: StoredEntry | ManifestEnd): record is StoredEntry => 'type' in record;

/** Opens a manifest. Everything is checked while it is read. Errors: {@link DamagedArchiveError}. */
export async function openStoredManifest(path: string): Promise<StoredManifestReader> {
  const lines = await openLines(path);
  try {
    const { record: header } = await lines.next();
    if (isOfNewerVersion(header)) {
      throw new DamagedArchiveError('a newer version of Homeport has made it, which this one cannot read');
    }
    if (!isHeader.Check(header)) throw new DamagedArchiveError('its manifest has no valid header');
    return {
      header,
      async next() {
        const { record, checksum } = await lines.next();
        if (checksum === null && isStoredEntry.Check(record)) return record;
        if (checksum === null || !isLastLine.Check(record)) {
          throw new DamagedArchiveError('its manifest has a line of no known kind');
        }
        return { totals: record.totals, sha256: checksum };
      },
      close: () => lines.close(),
    };
  } catch (error) {
    await lines.close();
    throw error;
  }
}

/** Reads a manifest to its end, and checks it. */
export async function readManifestEnd(path: string): Promise<ManifestEnd & { header: StoredHeader }> {
  const manifest = await openStoredManifest(path);
  try {
    for (;;) {
      const record = await manifest.next();
      if (!isStored(record)) return { ...record, header: manifest.header };
    }
  } finally {
    await manifest.close();
  }
}
