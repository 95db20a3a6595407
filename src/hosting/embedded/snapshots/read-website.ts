import { type BigIntStats, constants } from 'node:fs';
import { lstat, readlink } from 'node:fs/promises';
import { type ArchivedName, archivedName, quoted } from '../../websites/backup-contents/archive-names.ts';
import { openContained } from '../host-folder/contained-file.ts';
import { type OpenFile, type Place, placeOf } from './archive-file.ts';
import {
  isSameAgain,
  isUnchanged,
  type Piece,
  readSmall,
  type SmallFile,
  type Source,
  untilStable,
} from './archive-source.ts';
import { isGone, joinBytes, type TreeItem, unreadable, walkTree } from './archive-tree.ts';
import { isSettled } from './file-state.ts';
import { copyAtRest, filesOf, isAbsent, mayBelongToDatabase, partsOf } from './sqlite-database.ts';
import { StoreError } from './store/store-threads.ts';

/** Copies of a database that changes meanwhile. */
const DATABASE_TRIES = 4;
/** The same, if the website can rest for one more. */
const TRIES_BEFORE_REST = 2;
/** Small files read ahead of the one being archived, because most time is spent waiting for the disk. */
const LOOK_AHEAD = 8;
/** Items that are passed to the sink together, and how many such batches are passed ahead. */
const BATCH_ITEMS = 250;
const BATCHES_AHEAD = 2;

/** Takes the entries of a website, one after the other. A folder comes before what is in it. */
export interface WebsiteSink {
  folder(place: Place): Promise<void>;
  link(place: Place, target: ArchivedName): Promise<void>;
  small(place: Place, small: SmallFile): Promise<void>;
  /** Reads a file that may be too large for memory. `keep` of the result adds it. */
  large(open: OpenFile, isDatabase: boolean): Promise<TakenFile>;
  /**
   * Reads files, and finds those that are as in the previous backup, without passing their contents through this thread. Null for large
   * ones and others. Called with one batch after the other, in the order of {@link walkTree}.
   */
  take?(paths: readonly Buffer[]): Promise<(ReadFile | null)[]>;
}

export interface ReadFile {
  /** Adds the file. */
  keep(): Promise<void>;
}

export interface TakenFile {
  /** The pieces that were read; null if the file has holes. */
  pieces: Iterable<Piece> | null;
  /** `isWhole`: it was so at one moment. `isSettled`: see {@link isSettled}. */
  keep(isWhole: boolean, isSettled: boolean): Promise<void>;
}

/** Regular files, folders, links and others of a website. */
export interface Counts {
  files: number;
  directories: number;
  symlinks: number;
  skipped: number;
}

/** Reads a website into a sink. Files are consistent as defined in {@link Source}. Files that vanish before they are read are left out. */
export async function readWebsite(source: Source, sink: WebsiteSink): Promise<Counts> {
  const counts = { files: 0, directories: 0, symlinks: 0, skipped: 0 };
  const reading: Reading = { source, sink, counts, added: new Set() };
  for await (const { item, found } of readAhead(source, sink)) {
    source.signal?.throwIfAborted();
    if (item.kind === 'file' && reading.added.has(keyOf(item.path))) continue;
    await addItem(item, await found, reading);
  }
  return counts;
}

type Found = SmallFile | ReadFile | 'large' | 'database' | null;

/** All items of a folder. Small files are read ahead while earlier items are archived. */
async function* readAhead(
  source: Source,
  sink: WebsiteSink,
): AsyncGenerator<{ item: TreeItem; found: Promise<Found> }> {
  const waiting: { item: TreeItem; found: Promise<Found> }[] = [];
  for await (const { item, taken } of takeAhead(source, sink)) {
    const isUnread = item.kind === 'file' && taken === null;
    const found = isUnread ? look(source, item.path) : Promise.resolve(taken);
    // The consumer of the item gets the failure. Until then it must not count as unhandled.
    found.catch(() => {});
    waiting.push({ item, found });
    const next = waiting.length > LOOK_AHEAD ? waiting.shift() : undefined;
    if (next !== undefined) yield next;
  }
  yield* waiting;
}

interface Taken {
  item: TreeItem;
  taken: ReadFile | null;
}

/** All items of a folder, with what the sink takes of them. */
async function* takeAhead(source: Source, sink: WebsiteSink): AsyncGenerator<Taken> {
  const batches: Promise<Taken[]>[] = [];
  let items: TreeItem[] = [];
  function pass(): void {
    const batch = takeBatch(items, sink);
    // Its turn reports the failure. Until then it must not count as unhandled.
    batch.catch(() => {});
    batches.push(batch);
    items = [];
  }
  for await (const item of walkTree(source.root, source.leftOut)) {
    items.push(item);
    if (items.length < BATCH_ITEMS) continue;
    pass();
    const next = batches.length > BATCHES_AHEAD ? batches.shift() : undefined;
    if (next !== undefined) yield* await next;
  }
  pass();
  for (const batch of batches) yield* await batch;
}

async function takeBatch(items: readonly TreeItem[], sink: WebsiteSink): Promise<Taken[]> {
  const isTaken = ({ kind, path }: TreeItem) => kind === 'file' && !mayBelongToDatabase(path);
  const paths = items.filter(isTaken).map(({ path }) => path);
  const taken = sink.take === undefined || paths.length === 0 ? [] : await sink.take(paths);
  let at = 0;
  return items.map((item) => ({ item, taken: isTaken(item) ? (taken[at++] ?? null) : null }));
}

const look = (source: Source, path: Buffer): Promise<Found> =>
  leaveOutIfGone(path, null, () => readSmall(source, path));

/** Runs `read`. Returns `otherwise` if the file is missing; other system errors name the path. */
async function leaveOutIfGone<T>(
  path: Buffer,
  otherwise: T,
  read: () => Promise<T>,
  isMissing = isGone,
): Promise<T> {
  try {
    return await read();
  } catch (error) {
    // Where it is written to is no fault of the file.
    if (error instanceof StoreError) throw error;
    if (isMissing(error)) return otherwise;
    throw error instanceof Error && 'syscall' in error ? unreadable(path, error) : error;
  }
}

interface Reading {
  source: Source;
  sink: WebsiteSink;
  counts: Counts;
  /** Files that were added together with a database. */
  added: Set<string>;
}

async function addItem(item: TreeItem, found: Found, reading: Reading): Promise<void> {
  const { path } = item;
  const { sink, counts } = reading;
  if (item.kind === 'special') counts.skipped += 1;
  else if (item.kind === 'directory') {
    await sink.folder(placeOf(path, item.stats));
    counts.directories += 1;
  } else if (item.kind === 'symlink') await leaveOutIfGone(path, undefined, () => addLink(path, reading));
  else if (found === 'database') await addDatabase(path, reading);
  else if (found === 'large') await leaveOutIfGone(path, undefined, () => addLarge(path, reading));
  else if (found !== null) {
    await ('keep' in found ? found.keep() : sink.small(placeOf(path, found.stats), found));
    counts.files += 1;
  }
}

async function addLink(path: Buffer, { source, sink, counts }: Reading): Promise<void> {
  const link = joinBytes(source.root, path);
  const stats = await lstat(link, { bigint: true });
  if (!stats.isSymbolicLink()) return;
  await sink.link(placeOf(path, stats), archivedName(await readlink(link, { encoding: 'buffer' })));
  counts.symlinks += 1;
}

/** Archives a file too large for memory while reading it. An inconsistent copy is marked as such. */
async function addLarge(path: Buffer, { source, sink, counts }: Reading): Promise<void> {
  const isThere = await untilStable(source, path, async (file, stats) => {
    const seenMs = source.clock.now().getTime();
    const { pieces, keep } = await sink.large({ file, stats, path }, false);
    const isWhole =
      (await isUnchanged(file, stats, seenMs)) ||
      (pieces !== null && (await isSameAgain(source, file, path, pieces)));
    await keep(isWhole, isSettled(stats, seenMs));
    return isWhole;
  });
  if (isThere) counts.files += 1;
}

/** Archives a database of SQLite together with the files that belong to it, all as they were at one moment. */
async function addDatabase(path: Buffer, { source, sink, counts, added }: Reading): Promise<void> {
  let taken: TakenFile[] = [];
  const copyParts = async (): Promise<void> => {
    taken = [];
    for (const part of partsOf(path)) {
      const one = await leaveOutIfGone(part, null, () => takePart(part, source, sink), isAbsent);
      if (one !== null) taken.push(one);
    }
  };
  const attempt = (tries: number): Promise<boolean> =>
    copyAtRest({
      root: source.root,
      database: path,
      tries,
      clock: source.clock,
      signal: source.signal,
      copy: copyParts,
      async copied(isWhole) {
        for (const { keep } of taken) await keep(isWhole, false);
      },
    });
  const { atRest, signal } = source;
  const isCopied =
    atRest === undefined
      ? await attempt(DATABASE_TRIES)
      : (await attempt(TRIES_BEFORE_REST)) || (await atRest(() => attempt(1), signal));
  if (!isCopied) {
    throw new Error(`The database ${quoted(path)} kept changing while it was read.`);
  }
  counts.files += taken.length;
  for (const file of filesOf(path)) added.add(keyOf(file));
}

/** Null if it is no plain file. */
async function takePart(path: Buffer, source: Source, sink: WebsiteSink): Promise<TakenFile | null> {
  const file = await openContained(joinBytes(source.root, path), constants.O_RDONLY);
  try {
    const stats: BigIntStats = await file.stat({ bigint: true });
    return stats.isFile() ? await sink.large({ file, stats, path }, true) : null;
  } finally {
    await file.close();
  }
}

const keyOf = (path: Buffer): string => path.toString('latin1');
