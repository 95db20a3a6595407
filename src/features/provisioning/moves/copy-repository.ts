import { PermanentHostError } from '../../../hosting/contract/errors.ts';
import type { InstallRef } from '../../../hosting/contract/install-ref.ts';
import {
  REPOSITORY_FILES,
  REPOSITORY_MARK,
  REPOSITORY_PAGE,
  REPOSITORY_PART,
  type WebsiteMover,
} from '../../../hosting/contract/moves.ts';
import { mapConcurrent } from '../../../lib/concurrency.ts';

/** Files at the same time. */
const SIDE_BY_SIDE = 4;
/** What other files name is written before them, and deleted after them. */
const ORDER = ['keys', 'data', 'index', 'snapshots', 'config'];

/** What a copy needs of a machine. */
export type RepositoryMachine = Pick<
  WebsiteMover,
  'listRepository' | 'readRepository' | 'writeRepository' | 'trimRepository'
>;

export interface CopyOptions {
  signal: AbortSignal;
  /** Called with the bytes copied so far. */
  report(bytes: number): void;
}

/** Makes the backup repository of an install on one machine that of another. Files that are there stay. Returns the copied bytes. */
export async function copyRepository(
  install: InstallRef,
  from: RepositoryMachine,
  to: RepositoryMachine,
  { signal, report }: CopyOptions,
): Promise<number> {
  const [source, present] = [await allFiles(install, from), await allFiles(install, to)];
  const isSame = present.has('config') && (await config(install, from)).equals(await config(install, to));
  // Files of another repository are encrypted with another key.
  const kept = isSame ? new Set([...present].filter((name) => source.has(name))) : new Set<string>();
  const left = [...present].filter((name) => !kept.has(name)).sort((a, b) => rank(b) - rank(a));
  for (let at = 0; at < left.length; at += REPOSITORY_PAGE) {
    await to.trimRepository(install, left.slice(at, at + REPOSITORY_PAGE));
  }
  let copied = 0;
  const copy = async (name: string) => {
    for (let offset = 0; ; offset += REPOSITORY_PART) {
      signal.throwIfAborted();
      const content = await from.readRepository(install, name, offset);
      const isLast = content.length < REPOSITORY_PART;
      await to.writeRepository(install, name, { offset, isLast, content: content.toString('base64') });
      copied += content.length;
      report(copied);
      if (isLast) return;
    }
  };
  const missing = [...source].filter((name) => !kept.has(name));
  for (const folder of ORDER) {
    const names = missing.filter((name) => folderOf(name) === folder);
    await mapConcurrent(names, SIDE_BY_SIDE, copy);
  }
  return copied;
}

/**
 * Whether both machines have the repository of an install in the same place, such as a bucket or a mounted folder. `word`: a fresh one; the
 * address of a place says too little.
 */
export function sharesRepository(
  install: InstallRef,
  one: RepositoryMachine,
  other: RepositoryMachine,
  word: string,
): Promise<boolean> {
  return whileMarked(install, one, word, () => seesMark(install, other, word));
}

/** Does work while the repository of a machine has a mark. A machine removes no repository with one from its former places. */
export async function whileMarked<Result>(
  install: InstallRef,
  machine: RepositoryMachine,
  word: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const content = Buffer.from(word).toString('base64');
  await machine.writeRepository(install, REPOSITORY_MARK, { offset: 0, isLast: true, content });
  try {
    return await work();
  } finally {
    await machine.trimRepository(install, [REPOSITORY_MARK]);
  }
}

/** Whether a machine has its repository where {@link whileMarked} has put the mark. */
export async function seesMark(
  install: InstallRef,
  machine: RepositoryMachine,
  word: string,
): Promise<boolean> {
  try {
    return (await machine.readRepository(install, REPOSITORY_MARK, 0)).toString() === word;
  } catch (error) {
    if (error instanceof PermanentHostError) return false;
    throw error;
  }
}

/** Rejects with a {@link PermanentHostError} if the list has no end. */
async function allFiles(install: InstallRef, machine: RepositoryMachine): Promise<Set<string>> {
  const names = new Set<string>();
  for (let after: string | null = null; ; ) {
    const page: string[] = await machine.listRepository(install, after);
    for (const name of page) if (name !== REPOSITORY_MARK) names.add(name);
    const last = page.at(-1) ?? '';
    if (page.length < REPOSITORY_PAGE) return names;
    if (names.size > REPOSITORY_FILES || (after !== null && last <= after)) {
      throw new PermanentHostError('The backup repository of the website has too many files.');
    }
    after = last;
  }
}

const config = (install: InstallRef, machine: RepositoryMachine) =>
  machine.readRepository(install, 'config', 0);

const folderOf = (name: string): string => name.split('/')[0] ?? name;
const rank = (name: string): number => ORDER.indexOf(folderOf(name));
