import { crc32 } from 'node:zlib';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { counts, FolderEntry, fileFields, headerFields, LinkEntry } from './archive-manifest.ts';
import {
  type CheckedLine,
  createLinesWriter,
  endLines,
  type LinesReader,
  openLines,
  parseLine,
} from './checked-lines.ts';
import { DamagedArchiveError } from './damaged-archive.ts';
import { type ChunkRef, encodeChunks, listedChunks } from './store/chunk-list.ts';
import { FIRST_VERSION, VERSION } from './store/manifest-chunks.ts';
import type { Store } from './store/store.ts';

/**
 * The manifest of a backup whose contents are in the chunks of a store (store/chunk-store.ts): a header, the chunks with the entries in the
 * order of archive-tree.ts, then the totals. The entries are JSON, one per line. Most of their chunks are those of the backup before.
 * Version {@link FIRST_VERSION} has the entries themselves in their place. store/manifest-chunks.ts reads both as well.
 */
export const StoredHeader = Type.Object({
  format: Type.Literal('homeport-snapshot'),
  version: Type.Union([Type.Literal(FIRST_VERSION), Type.Literal(VERSION)]),
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
const isEntryList = Compile(Type.Object({ entries: Type.String() }));
const isLastLine = Compile(Type.Object({ totals: StoredTotals }));

const isOfNewerVersion = (header: unknown): boolean =>
  Number(Reflect.get(Object(header), 'version')) > VERSION;

export interface StoredManifestWriter {
  add(entry: StoredEntry): Promise<void>;
  /** Makes the store and the manifest durable. Returns the totals, and the checksum of the manifest. */
  finish(totals: Omit<StoredTotals, 'stored_bytes'>): Promise<ManifestEnd>;
  /** Closes the file; harmless after `finish`. */
  close(): Promise<void>;
}

/** Entries of a chunk. Borders depend on the paths only, so a changed file changes one chunk. */
const LEAST_BYTES = 16 * 1024;
const MOST_BYTES = 1024 * 1024;
/** One border in so many paths. */
const BORDER_PATHS = 512;
/** Chunks in a line of the manifest. */
const LINE_CHUNKS = 500;

export async function createStoredManifest(
  path: string,
  header: Omit<StoredHeader, 'version'>,
  store: Pick<Store, 'add' | 'finish'>,
): Promise<StoredManifestWriter> {
  const lines = await createLinesWriter(path);
  await lines.add({ ...header, version: VERSION });
  let waiting: string[] = [];
  let waitingBytes = 0;
  let chunks: ChunkRef[] = [];

  async function writeChunks(): Promise<void> {
    if (chunks.length > 0) await lines.add({ entries: encodeChunks(chunks).toString('base64') });
    chunks = [];
  }

  async function flush(): Promise<void> {
    if (waiting.length === 0) return;
    const entries = Buffer.from(waiting.join(''));
    waiting = [];
    waitingBytes = 0;
    chunks.push(...(await store.add([entries])));
    if (chunks.length >= LINE_CHUNKS) await writeChunks();
  }

  return {
    async add(entry) {
      const isBorder = waitingBytes >= LEAST_BYTES && crc32(entry.path) % BORDER_PATHS === 0;
      if (isBorder || waitingBytes >= MOST_BYTES) await flush();
      const line = `${JSON.stringify(entry)}\n`;
      waiting.push(line);
      waitingBytes += line.length;
    },
    async finish(given) {
      await flush();
      await writeChunks();
      const totals = { ...given, stored_bytes: await store.finish() };
      return { totals, sha256: await lines.finish({ totals }) };
    },
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
export async function openStoredManifest(
  path: string,
  store: Pick<Store, 'read'>,
): Promise<StoredManifestReader> {
  const lines = await openLines(path);
  try {
    const header = await readHeader(lines);
    const next = header.version === FIRST_VERSION ? entriesIn(lines) : entriesOfChunks(lines, store);
    return { header, next, close: () => lines.close() };
  } catch (error) {
    await lines.close();
    throw error;
  }
}

const readHeader = async (lines: LinesReader): Promise<StoredHeader> => headerOf((await lines.next()).record);

function headerOf(header: unknown): StoredHeader {
  if (isOfNewerVersion(header)) {
    throw new DamagedArchiveError('a newer version of Homeport has made it, which this one cannot read');
  }
  if (!isHeader.Check(header)) throw new DamagedArchiveError('its manifest has no valid header');
  return header;
}

function entriesIn(lines: LinesReader): StoredManifestReader['next'] {
  return async () => {
    const line = await lines.next();
    return line.checksum === null ? entryOf(line.record) : endOf(line);
  };
}

/** Holds the entries of one chunk, and asks for the next one ahead. */
function entriesOfChunks(lines: LinesReader, store: Pick<Store, 'read'>): StoredManifestReader['next'] {
  let chunks: ChunkRef[] = [];
  let end: ManifestEnd | null = null;
  let entries: string[] = [];
  let at = 0;

  /** Null at the end. */
  async function nextChunk(): Promise<string[] | null> {
    while (chunks.length === 0 && end === null) {
      const line = await lines.next();
      if (line.checksum === null) chunks = entryChunksOf(line);
      else end = endOf(line);
    }
    const chunk = chunks.shift();
    return chunk === undefined ? null : (await store.read([chunk])).toString('utf8').trimEnd().split('\n');
  }

  let coming: Promise<string[] | null> | null = null;
  return async () => {
    while (at >= entries.length) {
      const arrived = await (coming ?? nextChunk());
      if (arrived === null) break;
      coming = nextChunk();
      // Its turn reports the failure. Until then it must not count as unhandled.
      coming.catch(() => {});
      entries = arrived;
      at = 0;
    }
    const text = entries[at];
    at += 1;
    if (text !== undefined) return entryOf(parseLine(text));
    if (end === null) throw new Error('a manifest ended without its totals');
    return end;
  };
}

function entryChunksOf({ record }: CheckedLine): ChunkRef[] {
  const chunks = isEntryList.Check(record) ? listedChunks(record.entries) : null;
  if (chunks === null) throw new DamagedArchiveError('its manifest has a line of no known kind');
  return chunks;
}

function entryOf(record: unknown): StoredEntry {
  if (isStoredEntry.Check(record)) return record;
  throw new DamagedArchiveError('its manifest has a line of no known kind');
}

function endOf({ record, checksum }: CheckedLine): ManifestEnd {
  if (checksum !== null && isLastLine.Check(record)) return { totals: record.totals, sha256: checksum };
  throw new DamagedArchiveError('its manifest has a line of no known kind');
}

/** The header and the end of a manifest, whose lines are checked. Its chunks are not read. */
export async function readManifestEnds(path: string): Promise<ManifestEnd & { header: StoredHeader }> {
  const lines = await openLines(path);
  try {
    const header = await readHeader(lines);
    for (;;) {
      const line = await lines.next();
      if (line.checksum !== null) return { ...endOf(line), header };
    }
  } finally {
    await lines.close();
  }
}

/** As {@link readManifestEnds}, of a manifest that is in memory. Its checksum covers what is between the ends. */
export function endsOfManifest(bytes: Buffer): ManifestEnd & { header: StoredHeader } {
  const { first, ...last } = endLines(bytes);
  return { ...endOf(last), header: headerOf(first) };
}
