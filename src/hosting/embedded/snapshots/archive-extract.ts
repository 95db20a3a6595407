import { constants } from 'node:fs';
import { chmod, type FileHandle, lutimes, mkdir, open, symlink } from 'node:fs/promises';
import { syncFolder } from '../../../lib/durable-file.ts';
import { syncFileSystem } from '../../../lib/sync-file-system.ts';
import { nameBytes } from '../../websites/backup-contents/archive-names.ts';
import type { ArchiveFiles } from './archive-files.ts';
import type { ManifestTotals } from './archive-manifest.ts';
import { type ArchivedItem, type ArchiveIdentity, readArchive } from './archive-read.ts';
import { joinBytes } from './archive-tree.ts';
import { piecesToWrite } from './file-content.ts';
import { SMALL_BYTES } from './file-state.ts';
import { partsOf } from './sparse-file.ts';

/**
 * Concurrent files: most time is spent waiting for the disk, and the file system makes several durable with one journal write.
 */
const TASKS = 16;

type Entry = ArchivedItem['entry'];
type FileEntry = Extract<Entry, { type: 'file' }>;

/** Passes the items of a backup to `visit`, one after the other, and verifies them. */
export type ReadItems<Result> = (visit: (item: ArchivedItem) => Promise<void>) => Promise<Result>;

/** Writes files without passing their contents through this thread. */
export interface FileSink {
  /** Takes over a file, whose folder exists. False if it does not write such files. */
  take(path: Buffer, entry: FileEntry, sync: boolean): Promise<boolean>;
  /** Resolves once all files are written. */
  finish(): Promise<void>;
}

/**
 * Unpacks a backup into a new folder, and makes all of it durable. If it fails, the caller removes the partial folder.
 *
 * @param isWhole many files are unpacked. On Linux, they become durable together.
 */
export async function extract<Result>(
  folder: string,
  isWhole: boolean,
  readItems: ReadItems<Result>,
  sink?: FileSink,
): Promise<Result> {
  const root = Buffer.from(folder);
  await mkdir(folder, { mode: 0o700 });
  const folders = new Map<string, Entry>();
  const together = isWhole && process.platform === 'linux';
  const unpacking: Unpacking = { root, folders, tasks: createTasks(), syncsEach: !together, sink };
  const { tasks } = unpacking;
  try {
    const result = await readItems((item) => place(item, unpacking));
    await tasks.settle();
    await sink?.finish();
    await finishFolders(unpacking);
    if (together) await syncFileSystem(folder);
    return result;
  } finally {
    await tasks.settle().catch(() => {});
  }
}

/**
 * Unpacks an archive into a new folder, checks every byte and makes all of it durable. If it fails, the caller removes the
 * partial folder. Errors: DamagedArchiveError (damaged-archive.ts).
 */
export function extractArchive(
  files: ArchiveFiles,
  identity: ArchiveIdentity,
  folder: string,
  signal?: AbortSignal,
  report?: (done: number) => void,
): Promise<ManifestTotals> {
  return extract(folder, true, (visit) => readArchive(files, identity, visit, signal, report));
}

/** Chosen ones among the first items of a backup. */
export interface ChosenItems {
  items: number;
  /** Chooses every folder above a chosen item as well. */
  isChosen(path: string): boolean;
}

/** Unpacks chosen items into a new folder. */
export async function extractChosen(
  folder: string,
  { isChosen }: ChosenItems,
  readItems: ReadItems<unknown>,
): Promise<void> {
  await extract(folder, false, (visit) =>
    readItems(async (item) => {
      if (item.path.length > 0 && isChosen(item.entry.path)) await visit(item);
    }),
  );
}

interface Unpacking {
  root: Buffer;
  folders: Map<string, Entry>;
  tasks: Tasks;
  /** Whether each file is made durable on its own. */
  syncsEach: boolean;
  sink: FileSink | undefined;
}

/** Creates one entry. Folders get their mode and times last, because they must stay writable until then. */
async function place({ entry, path, content }: ArchivedItem, unpacking: Unpacking): Promise<void> {
  const { root, folders, tasks, syncsEach, sink } = unpacking;
  if (entry.type === 'file' && entry.superseded) return;
  const target = path.length === 0 ? root : joinBytes(root, path);
  if (entry.type === 'directory') {
    if (path.length > 0) await mkdir(target, { mode: 0o700 });
    folders.set(path.toString('latin1'), entry);
  } else if (entry.type === 'symlink') {
    await symlink(nameBytes(entry.target, entry.target_base64), target);
    const seconds = secondsOf(entry);
    await lutimes(target, seconds, seconds);
  } else if (await sink?.take(target, entry, syncsEach)) {
    return;
  } else if (entry.size <= SMALL_BYTES) {
    const chunks: Buffer[] = [];
    for await (const chunk of content) chunks.push(chunk);
    await tasks.begin(() => writeFile(target, entry, [Buffer.concat(chunks)], syncsEach));
  } else {
    await writeFile(target, entry, content, syncsEach);
  }
}

async function writeFile(
  path: Buffer,
  entry: FileEntry,
  content: AsyncIterable<Buffer> | Iterable<Buffer>,
  sync: boolean,
): Promise<void> {
  // Created exclusively, because an earlier entry of that name may be a link.
  const file = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  try {
    const placed = piecesToWrite(partsOf(entry));
    let end = 0;
    for await (const chunk of content) {
      for (const { at, bytes } of placed(chunk)) {
        await writeWhole(file, bytes, at);
        end = at + bytes.length;
      }
    }
    if (end < entry.size) await file.truncate(entry.size);
    await file.chmod(entry.mode);
    const seconds = secondsOf(entry);
    await file.utimes(seconds, seconds);
    if (sync) await file.sync();
  } finally {
    await file.close();
  }
}

async function writeWhole(file: FileHandle, chunk: Buffer, position: number): Promise<void> {
  for (let done = 0; done < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, done, chunk.length - done, position + done);
    done += bytesWritten;
  }
}

/** Innermost first, so that an unreadable folder gets its mode last. */
async function finishFolders({ root, folders, syncsEach }: Unpacking): Promise<void> {
  for (const [path, entry] of [...folders].reverse()) {
    const target = path === '' ? root : joinBytes(root, Buffer.from(path, 'latin1'));
    if (syncsEach) await syncFolder(target);
    const seconds = secondsOf(entry);
    await lutimes(target, seconds, seconds);
    await chmod(target, entry.mode);
  }
}

/** Its time of modification. */
export function secondsOf(entry: Entry): number {
  return Number(entry.mtime_ns) / 1e9;
}

interface Tasks {
  /** Starts a task; waits only while too many are running. Rejects with the first failure so far. */
  begin(task: () => Promise<void>): Promise<void>;
  /** Waits for all. Rejects with the first failure. */
  settle(): Promise<void>;
}

function createTasks(): Tasks {
  const underWay = new Set<Promise<void>>();
  let failure: { error: unknown } | null = null;

  async function run(task: () => Promise<void>): Promise<void> {
    try {
      await task();
    } catch (error) {
      failure ??= { error };
    }
  }

  function check(): void {
    if (failure !== null) throw failure.error;
  }

  return {
    async begin(task) {
      const running = run(task).finally(() => underWay.delete(running));
      underWay.add(running);
      if (underWay.size >= TASKS) await Promise.race(underWay);
      check();
    },
    async settle() {
      await Promise.all(underWay);
      check();
    },
  };
}
