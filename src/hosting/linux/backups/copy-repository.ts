import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { watchingDisk } from '../machine/disk-watch.ts';
import { initialize, type RepositoriesOptions } from './repositories.ts';
import { placeIn, type RepositoryPlace } from './repository-place.ts';
import { isCopied, type ListedSnapshot, resticOn } from './restic.ts';

type CopyOptions = Pick<RepositoriesOptions, 'clock' | 'random'> & {
  /** Folder for unfinished work. */
  scratch: string;
  password: string;
  signal: AbortSignal | undefined;
};

/**
 * Copies the snapshots that a repository lacks, creates the repository if needed, and compares the lists. Returns the snapshots of the
 * source. Snapshots can be deleted from the source meanwhile; then it begins again with the others. `claim` is called before the
 * target is created.
 */
export async function copyRepository(
  source: RepositoryPlace,
  target: RepositoryPlace,
  options: CopyOptions & { claim(): Promise<void> },
  copied: () => void,
): Promise<ListedSnapshot[]> {
  for (;;) {
    if (!(await source.storage.has('config'))) return [];
    const from = resticOn(source, options.password);
    const wanted = await from.list(options.signal);
    try {
      await copyLacking(source, target, wanted, options, copied);
      return wanted;
    } catch (error) {
      options.signal?.throwIfAborted();
      if (await isComplete(source, options, wanted)) throw error;
    }
  }
}

/** Whether the source still has these snapshots. */
async function isComplete(
  { storage, ...place }: RepositoryPlace,
  { password, signal }: CopyOptions,
  wanted: readonly ListedSnapshot[],
): Promise<boolean> {
  if (!(await storage.has('config'))) return false;
  const there = new Set((await resticOn({ storage, ...place }, password).list(signal)).map(({ id }) => id));
  return wanted.every(({ id }) => there.has(id));
}

async function copyLacking(
  source: RepositoryPlace,
  target: RepositoryPlace,
  wanted: readonly ListedSnapshot[],
  { password, signal, claim, ...parts }: CopyOptions & { claim(): Promise<void> },
  copied: () => void,
): Promise<void> {
  const to = resticOn(target, password);
  const polynomial = await resticOn(source, password).polynomial();
  if (!(await target.storage.has('config'))) {
    await claim();
    await initialize(target, password, parts, polynomial);
  }
  const lacking = await lackingOf(wanted, to.list(signal));
  if (lacking.length === 0) return;
  if (haveSameAccess(source, target)) {
    await copySnapshots(source, target, lacking, { password, signal, copied });
  } else {
    await copyByFolder(source, target, lacking, { ...parts, password, signal, copied, polynomial });
  }
  const left = await lackingOf(wanted, to.list(signal));
  if (left.length > 0) throw new Error(`${left.length} backups are missing in the copy`);
}

/** restic reads one key and one region for both repositories. */
function haveSameAccess(source: RepositoryPlace, target: RepositoryPlace): boolean {
  if (source.options.length === 0 || target.options.length === 0) return true;
  const [one, other] = [source, target].map(({ environment, options }) =>
    JSON.stringify([environment, options]),
  );
  return one === other;
}

async function copySnapshots(
  source: RepositoryPlace,
  target: RepositoryPlace,
  ids: readonly string[],
  { password, signal, copied }: { password: string; signal: AbortSignal | undefined; copied(): void },
): Promise<void> {
  const program = resticOn(target, password).copyFrom(source, ids);
  const stop = () => program.stop();
  signal?.addEventListener('abort', stop);
  program.stdin.end();
  try {
    for await (const line of createInterface({ input: program.stdout })) if (isCopied(line)) copied();
    await program.ended;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
  signal?.throwIfAborted();
}

/** Copies by a repository in the scratch folder, which may take up half of the free space. */
async function copyByFolder(
  source: RepositoryPlace,
  target: RepositoryPlace,
  ids: readonly string[],
  { scratch, polynomial, copied, ...options }: CopyOptions & { polynomial: string; copied(): void },
): Promise<void> {
  const { password, signal } = options;
  const between = placeIn(
    { address: join(scratch, 'moved-backups'), credentials: null },
    basename(target.address),
  );
  await between.storage.removeAll();
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  try {
    await watchingDisk(scratch, signal, async (limited) => {
      await initialize(between, password, options, polynomial);
      await copySnapshots(source, between, ids, { password, signal: limited, copied: () => {} });
    });
    const staged = await resticOn(between, password).list(signal);
    await copySnapshots(
      between,
      target,
      staged.map(({ id }) => id),
      { password, signal, copied },
    );
  } finally {
    await between.storage.removeAll();
  }
}

/** Ids of the snapshots whose copy is missing. */
async function lackingOf(
  wanted: readonly ListedSnapshot[],
  present: Promise<ListedSnapshot[]>,
): Promise<string[]> {
  const keyOf = ({ time, tree, tags = [] }: ListedSnapshot) => JSON.stringify([time, tree, tags]);
  const there = new Set((await present).map(keyOf));
  return wanted.filter((snapshot) => !there.has(keyOf(snapshot))).map(({ id }) => id);
}
