import type { BigIntStats } from 'node:fs';
import { realpath } from 'node:fs/promises';
import type { Clock } from '../../../lib/clock.ts';
import type { Snapshot } from '../../contract/snapshots.ts';
import { nameFields, type OpenFile, type Place, placeOf } from './archive-file.ts';
import { readParts, type Source } from './archive-source.ts';
import { joinBytes } from './archive-tree.ts';
import { findData } from './find-holes.ts';
import type { FormerFiles } from './former-files.ts';
import { type ReadFile, readWebsite, type TakenFile, type WebsiteSink } from './read-website.ts';
import { type ChunkRef, encodeChunks } from './store/chunk-list.ts';
import type { Store } from './store/store.ts';
import { type FormerState, stateText, type Taken } from './store/taken-files.ts';
import {
  createStoredManifest,
  type StoredEntry,
  type StoredFile,
  type StoredHeader,
  type StoredManifestWriter,
} from './stored-manifest.ts';

/** Small files are passed to the store together, because each call costs a trip to its thread. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_LINES = 1000;
/** Pieces of a large file that the thread has not taken yet. */
const MOST_PUSHED = 8;

export interface WriteOptions extends Partial<Pick<Source, 'leftOut' | 'signal' | 'atRest'>> {
  report?: ((done: number) => void) | undefined;
}

export interface StoredWriteOptions extends WriteOptions {
  store: Store;
  /** The files of the previous backup of the install. */
  former: FormerFiles | null;
  /** Whether later backups may find unchanged files in this one. If not, equal files always have equal entries. */
  withState: boolean;
}

/**
 * Writes a folder into a store, and a manifest that lists its entries with their chunks. The manifest is a new file. Both are durable,
 * and new chunks are verified, when the promise resolves. Memory does not grow with the size of files.
 */
export async function writeStored(
  folder: string,
  file: string,
  header: Omit<StoredHeader, 'version'>,
  clock: Clock,
  { store, former, withState, report, ...options }: StoredWriteOptions,
): Promise<Snapshot> {
  const root = await realpath(folder, { encoding: 'buffer' });
  const manifest = await createStoredManifest(file, header, store);
  try {
    const source: Source = { signal: undefined, ...options, root, clock };
    const lines = createLines(store, manifest, report);
    const counts = await readWebsite(source, storeSink(source, store, lines, former, withState));
    await lines.end();
    await former?.finish();
    const bytes = lines.bytes();
    const { sha256 } = await manifest.finish({ ...counts, bytes });
    return { bytes, files: counts.files, sha256 };
  } finally {
    await manifest.close();
  }
}

type WithoutChunks = Omit<StoredFile, 'chunks'>;

/** The lines of the manifest, in order. The contents of small files wait until they fill a batch. */
interface Lines {
  add(entry: StoredEntry): Promise<void>;
  addSmall(entry: WithoutChunks, content: Buffer): Promise<void>;
  /** Counts content for the progress. */
  done(bytes: number): void;
  /** Bytes of the contents of all files. */
  bytes(): number;
  end(): Promise<void>;
}

type Line = { entry: StoredEntry } | { small: WithoutChunks; content: Buffer };

function createLines(
  store: Store,
  manifest: StoredManifestWriter,
  report: ((done: number) => void) | undefined,
): Lines {
  let waiting: Line[] = [];
  let waitingBytes = 0;
  let total = 0;
  let passed = 0;
  /** The batch before. While the store takes it, the next one is filled. */
  let writing: Promise<void> = Promise.resolve();

  async function write(lines: readonly Line[]): Promise<void> {
    const contents = lines.flatMap((line) => ('small' in line ? [line.content] : []));
    const chunks = contents.length > 0 ? await store.add(contents) : [];
    let next = 0;
    for (const line of lines) {
      if ('entry' in line) {
        await manifest.add(line.entry);
        continue;
      }
      const chunk = chunks[next];
      if (chunk === undefined) throw new Error('the store has not taken a file');
      next += 1;
      await manifest.add({ ...line.small, chunks: listOf([chunk]) });
    }
  }

  async function flush(): Promise<void> {
    await writing;
    const lines = waiting;
    waiting = [];
    waitingBytes = 0;
    writing = write(lines);
    // The next flush gets the failure. Until then it must not count as unhandled.
    writing.catch(() => {});
  }

  async function push(line: Line, bytes: number): Promise<void> {
    waiting.push(line);
    waitingBytes += bytes;
    if (waitingBytes >= BATCH_BYTES || waiting.length >= BATCH_LINES) await flush();
  }

  const done = (bytes: number): void => {
    passed += bytes;
    report?.(passed);
  };

  return {
    done,
    async add(entry) {
      if (entry.type === 'file' && !entry.superseded) total += dataBytesOf(entry);
      await push({ entry }, 0);
    },
    async addSmall(small, content) {
      total += content.length;
      done(content.length);
      await push({ small, content }, content.length);
    },
    bytes: () => total,
    async end() {
      await flush();
      await writing;
    },
  };
}

const dataBytesOf = ({ size, data }: Pick<StoredFile, 'size' | 'data'>): number =>
  data === undefined ? size : data.reduce((sum, [, length]) => sum + length, 0);

const listOf = (chunks: readonly ChunkRef[]): string => encodeChunks(chunks).toString('base64');

function storeSink(
  source: Source,
  store: Store,
  lines: Lines,
  former: FormerFiles | null,
  withState: boolean,
): WebsiteSink {
  const stateOf: StateOf = (stats, isSettled) => (withState && isSettled ? { state: stateText(stats) } : {});
  return {
    folder: (place) => lines.add({ type: 'directory', ...place }),
    link: (place, { text, base64 }) =>
      lines.add({
        type: 'symlink',
        ...place,
        target: text,
        ...(base64 === undefined ? {} : { target_base64: base64 }),
      }),
    async small(place, { content, stats, isSettled }) {
      const entry = { type: 'file' as const, ...place, size: content.length, ...stateOf(stats, isSettled) };
      // An empty file has no chunk.
      if (content.length === 0) await lines.add({ ...entry, chunks: '' });
      else await lines.addSmall(entry, content);
    },
    large: (open, isDatabase) => takeLarge(open, isDatabase, { source, store, lines, stateOf }),
    take: createTaking(source, store, lines, former, withState),
  };
}

/** Lets the thread of the store read most files. */
function createTaking(
  { root, clock }: Source,
  store: Store,
  lines: Lines,
  former: FormerFiles | null,
  withState: boolean,
): (paths: readonly Buffer[]) => Promise<(ReadFile | null)[]> {
  /** Former files are found in order, one batch after the other. */
  let finding: Promise<unknown> = Promise.resolve();

  async function find(paths: readonly Buffer[]): Promise<(StoredFile | null)[]> {
    const found = [];
    for (const path of paths) found.push((await former?.find(path)) ?? null);
    return found;
  }

  const kept = (entry: StoredFile): ReadFile => ({
    async keep() {
      lines.done(dataBytesOf(entry));
      await lines.add(entry);
    },
  });

  return async (paths) => {
    const search = finding.then(() => find(paths));
    finding = search.catch(() => {});
    const entries = await search;
    const files = paths.map((path, at) => ({
      path: joinBytes(root, path).toString('latin1'),
      former: formerState(entries[at] ?? null),
    }));
    const taken: Taken[] = [];
    while (taken.length < files.length) {
      taken.push(...(await store.take(files.slice(taken.length), clock.now().getTime())));
    }
    return paths.map((path, at) => {
      const [read = null, entry = null] = [taken[at], entries[at]];
      if (read === null) return null;
      if (read === 'same') return entry === null ? null : kept(entry);
      const { mode, mtime_ns, size, state, chunks } = read;
      const place = { ...nameFields(path), mode, mtime_ns };
      return kept({
        type: 'file',
        ...place,
        size,
        ...(withState && state !== null ? { state } : {}),
        chunks,
      });
    });
  };
}

const formerState = (entry: StoredFile | null): FormerState | null =>
  entry?.state === undefined ? null : { size: entry.size, mtime_ns: entry.mtime_ns, state: entry.state };

type StateOf = (stats: BigIntStats, isSettled: boolean) => Pick<StoredFile, 'state'>;

async function takeLarge(
  { file, stats, path }: OpenFile,
  isDatabase: boolean,
  { source, store, lines, stateOf }: { source: Source; store: Store; lines: Lines; stateOf: StateOf },
): Promise<TakenFile> {
  const place: Place = placeOf(path, stats);
  const size = Number(stats.size);
  const parts = await findData(file, stats, source.signal);
  const chunks = await pushAll(readParts(source, file, path, parts ?? [{ offset: 0, length: size }]));

  async function pushAll(contents: AsyncIterable<Buffer>): Promise<ChunkRef[]> {
    const pushed: Promise<void>[] = [];
    try {
      for await (const bytes of contents) {
        lines.done(bytes.length);
        const push = store.push(bytes, isDatabase);
        push.catch(() => {});
        pushed.push(push);
        if (pushed.length >= MOST_PUSHED) await pushed.shift();
      }
      await Promise.all(pushed);
    } catch (error) {
      // The next file must not begin with bytes of this one.
      await store.end().catch(() => {});
      throw error;
    }
    return store.end();
  }

  const entry = {
    type: 'file' as const,
    ...place,
    size,
    ...(parts === null
      ? {}
      : { data: parts.map(({ offset, length }): [number, number] => [offset, length]) }),
  };
  return {
    pieces: parts === null ? piecesOf(chunks) : null,
    keep: (isWhole, isSettled) =>
      lines.add(
        isWhole
          ? { ...entry, chunks: listOf(chunks), ...stateOf(stats, isSettled) }
          : { ...entry, chunks: '', superseded: true },
      ),
  };
}

const piecesOf = (chunks: readonly ChunkRef[]) =>
  chunks.map(({ id, length }) => ({ length, sha256: Buffer.from(id, 'latin1').toString('hex') }));
