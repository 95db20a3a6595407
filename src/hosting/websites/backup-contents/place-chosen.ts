import { constants, type Stats } from 'node:fs';
import { link, lstat, mkdir, open, readdir, rename, rm, rmdir } from 'node:fs/promises';
import { platform } from 'node:process';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { RefusedRestoreError } from '../../contract/errors.ts';
import { archivedName } from './archive-names.ts';
import type { Contents, IndexedEntry } from './contents-file.ts';

/**
 * Chosen files and folders of a backup, unpacked in `staged`, are placed in the folder `live` of a website. Files replace those of the
 * same name, and missing ones are added. Nothing else changes: files that the backup lacks stay, and so do the permissions of
 * folders that exist. `aside` keeps the replaced files, so that {@link takeBackChosen} can undo it; the staged files stay as well.
 *
 * All work uses names in open folders: whatever links a tenant creates meanwhile, nothing outside of `live` changes.
 */
export interface Placement {
  staged: string;
  live: string;
  aside: string;
}

/** Chosen names, each with what is chosen inside of it; `'all'` for everything. */
export type Choice = 'all' | Map<string, Choice>;

export function choiceOf(paths: readonly string[]): Choice {
  const top = new Map<string, Choice>();
  // A folder comes before what is inside of it, which then adds nothing.
  for (const path of [...paths].sort()) {
    const names = path.split('/');
    const last = names.pop() ?? '';
    let folder: Choice = top;
    for (const name of names) {
      if (folder === 'all') break;
      const inner: Choice = folder.get(name) ?? new Map();
      folder.set(name, inner);
      folder = inner;
    }
    if (folder !== 'all') folder.set(last, 'all');
  }
  return top;
}

/** The choice inside of a folder at the top; undefined if nothing of it is chosen. */
export const chosenIn = (choice: Choice, name: string): Choice | undefined =>
  choice === 'all' ? 'all' : choice.get(name);

/**
 * The entries of a backup that are chosen, without those inside of others. Throws a {@link RefusedRestoreError} for a path that the
 * backup lacks.
 */
export function chosenEntries(contents: Pick<Contents, 'find'>, paths: readonly string[]): IndexedEntry[] {
  const entries = paths.map((path) => {
    const entry = contents.find(path);
    if (entry !== null) return entry;
    throw new RefusedRestoreError(`The backup has no file or folder "${path}". The website is unchanged.`);
  });
  const choice = choiceOf(paths);
  return entries.filter(({ path }) => {
    let folder: Choice | undefined = choice;
    for (const name of path.split('/').slice(0, -1)) folder = folder && chosenIn(folder, name);
    return folder !== 'all';
  });
}

/** Rejects with a {@link RefusedRestoreError} if something of another kind is in the place of a file or folder. Changes nothing. */
export async function requirePlaceable(
  { staged, live }: Pick<Placement, 'staged' | 'live'>,
  choice: Choice,
  shown: string,
): Promise<void> {
  await check(Buffer.from(staged), Buffer.from(live), choice, shown);
}

async function check(staged: Buffer, live: Buffer, choice: Choice, shown: string): Promise<void> {
  await inFolder(staged, async (from) => {
    await inFolder(live, async (to) => {
      for (const { name, stats, inner, text } of await chosenNames(from, choice)) {
        const path = shown === '' ? text : `${shown}/${text}`;
        const present = await ifThere(lstat(beside(to, name)));
        if (present === null) continue;
        if (present.isDirectory() !== stats.isDirectory()) {
          throw new RefusedRestoreError(
            `"${path}" is ${kindOf(present)} in the website and ${kindOf(stats)} in the backup. Rename or delete the one in the website, then restore again. The website is unchanged.`,
          );
        }
        if (stats.isDirectory()) await check(beside(from, name), beside(to, name), inner, path);
      }
    });
  });
}

const kindOf = (stats: Stats): string =>
  stats.isDirectory() ? 'a folder' : stats.isSymbolicLink() ? 'a link' : 'a file';

/** Can be repeated after an interruption at any step. */
export async function placeChosen({ staged, live, aside }: Placement, choice: Choice): Promise<void> {
  await ensureFolder(Buffer.from(aside));
  await place(Buffer.from(staged), Buffer.from(live), Buffer.from(aside), choice);
}

async function place(staged: Buffer, live: Buffer, aside: Buffer, choice: Choice): Promise<void> {
  await inAll([staged, live, aside], async (from, to, old) => {
    for (const { name, stats, inner } of await chosenNames(from, choice)) {
      const [next, present, former] = [beside(from, name), beside(to, name), beside(old, name)];
      if (!stats.isDirectory()) {
        await placeFile({ next, present, former, stats, temporary: beside(old, TEMPORARY) });
        continue;
      }
      await ensureFolder(former);
      // Before the folder itself, so that no folder of the tenant is ever taken for a new one.
      if ((await ifThere(lstat(present))) === null) await ensureFolder(beside(former, NEW));
      const isNew = (await ifThere(lstat(beside(former, NEW)))) !== null;
      if (isNew) await ensureFolder(present);
      await place(next, present, former, inner);
      if (isNew) await setOwnerAndMode(present, stats);
    }
    await syncOpen(to);
  });
}

/** Beside what was replaced, while a file is put in its place: a tenant can put nothing in the way there. */
const TEMPORARY = Buffer.from('.homeport-restoring-4c1f6f1d');
/** Marks a folder that was not there before, beside what was replaced in it. */
const NEW = Buffer.from('.homeport-new-4c1f6f1d');

/** The file is there at every moment, in the former or in the restored version. */
async function placeFile({
  next,
  present,
  former,
  stats,
  temporary,
}: Record<'next' | 'present' | 'former' | 'temporary', Buffer> & { stats: Stats }): Promise<void> {
  const found = await ifThere(lstat(present));
  if (found !== null && found.ino === stats.ino && found.dev === stats.dev) return;
  if (found !== null) await linkOnce(present, former);
  await rm(temporary, { force: true });
  await link(next, temporary);
  await rename(temporary, present);
}

/** Undoes {@link placeChosen}, whether it was completed or not. Can be repeated. */
export async function takeBackChosen({ staged, live, aside }: Placement, choice: Choice): Promise<void> {
  if ((await ifThere(lstat(aside))) === null) return;
  await takeBack(Buffer.from(staged), Buffer.from(live), Buffer.from(aside), choice);
}

async function takeBack(staged: Buffer, live: Buffer, aside: Buffer, choice: Choice): Promise<void> {
  await inAll([staged, live, aside], async (from, to, old) => {
    for (const { name, stats, inner } of await chosenNames(from, choice)) {
      const [present, former] = [beside(to, name), beside(old, name)];
      const kept = await ifThere(lstat(former));
      if (stats.isDirectory()) {
        if (kept === null) continue;
        await takeBack(beside(from, name), present, former, inner);
        if ((await ifThere(lstat(beside(former, NEW)))) !== null) await removeIfEmpty(present);
      } else if (kept !== null) await rename(former, present);
      else {
        const found = await ifThere(lstat(present));
        if (found !== null && found.ino === stats.ino && found.dev === stats.dev) await rm(present);
      }
    }
    await syncOpen(to);
  });
}

interface ChosenName {
  name: Buffer;
  /** As users name it. */
  text: string;
  stats: Stats;
  inner: Choice;
}

/** The chosen entries of an open folder. */
async function chosenNames(folder: Buffer, choice: Choice): Promise<ChosenName[]> {
  const found: ChosenName[] = [];
  for (const name of await readdir(folder, { encoding: 'buffer' })) {
    const { text } = archivedName(name);
    const inner = chosenIn(choice, text);
    if (inner !== undefined) found.push({ name, text, inner, stats: await lstat(beside(folder, name)) });
  }
  return found;
}

const SLASH = Buffer.from('/');
const beside = (folder: Buffer, name: Buffer): Buffer => Buffer.concat([folder, SLASH, name]);

const FOLDER = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** Runs work with the path of a folder that leads to the same folder, wherever that is moved. Rejects if it is a link. */
async function inFolder<Result>(path: Buffer, work: (at: Buffer) => Promise<Result>): Promise<Result> {
  const folder = await open(path, FOLDER);
  try {
    return await work(platform === 'linux' ? Buffer.from(`/proc/self/fd/${folder.fd}`) : path);
  } finally {
    await folder.close();
  }
}

const inAll = (
  [staged, live, aside]: readonly [Buffer, Buffer, Buffer],
  work: (from: Buffer, to: Buffer, old: Buffer) => Promise<void>,
): Promise<void> =>
  inFolder(staged, (from) => inFolder(live, (to) => inFolder(aside, (old) => work(from, to, old))));

async function ensureFolder(path: Buffer): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
  });
}

async function linkOnce(from: Buffer, to: Buffer): Promise<void> {
  await link(from, to).catch((error: unknown) => {
    // Another process has removed it, or an earlier run has kept it.
    if (!hasCode(error, 'EEXIST', 'ENOENT')) throw error;
  });
}

async function setOwnerAndMode(path: Buffer, { uid, gid, mode }: Stats): Promise<void> {
  const folder = await open(path, FOLDER);
  try {
    await folder.chown(uid, gid);
    await folder.chmod(mode & 0o7777);
  } finally {
    await folder.close();
  }
}

async function removeIfEmpty(path: Buffer): Promise<void> {
  await rmdir(path).catch((error: unknown) => {
    // Something was created in it meanwhile.
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT', 'ENOTDIR')) throw error;
  });
}

async function syncOpen(path: Buffer): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
