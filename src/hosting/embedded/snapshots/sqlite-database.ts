import type { BigIntStats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../../lib/clock.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { isGone, joinBytes, unreadable } from './archive-tree.ts';
import { STAMP_STEP_MS } from './file-state.ts';

/**
 * The files that belong to a database, with the database itself. After a crash SQLite makes the database whole from its journal or its
 * write-ahead log, so they are whole together if all are from one moment.
 */
const PARTS = ['', '-journal', '-wal'];
/** SQLite makes the index of the write-ahead log again. */
const INDEX = '-shm';

const LOOKS = 20;

/** Paths of the files of a database that an archive contains, the database first. */
export const partsOf = (database: Buffer): Buffer[] => PARTS.map((ending) => beside(database, ending));
/** Paths of all files of a database. */
export const filesOf = (database: Buffer): Buffer[] => [...partsOf(database), beside(database, INDEX)];

const ENDINGS = [...PARTS, INDEX].filter((ending) => ending !== '').map((ending) => Buffer.from(ending));

/** Whether a file may belong to a database, by its name. Such files are archived together with the database, if there is one. */
export const mayBelongToDatabase = (path: Buffer): boolean =>
  ENDINGS.some((ending) => path.subarray(-ending.length).equals(ending));

const beside = (path: Buffer, ending: string): Buffer => Buffer.concat([path, Buffer.from(ending)]);

export interface CopyOptions {
  /** The website's folder, absolute and real. */
  root: Buffer;
  /** Path of the database below the folder. */
  database: Buffer;
  /** Most copies. The archive keeps all of them. */
  tries: number;
  clock: Clock;
  signal: AbortSignal | undefined;
  /** Copies the files. Called again if they changed meanwhile. */
  copy(): Promise<void>;
  /** Called after each copy. */
  copied(isWhole: boolean): Promise<void>;
}

/**
 * Copies a database that a website may write to, as it was at one moment: nothing was written from before the copy until after it. SQLite
 * itself is not used, because the files are a tenant's: it would run what they say, such as delete the file that a journal names.
 *
 * Returns false if the database changes all the time.
 */
export async function copyAtRest(options: CopyOptions): Promise<boolean> {
  for (let tried = 0; tried < options.tries; tried++) {
    const before = await stateAtRest(options);
    if (before === null) return false;
    await options.copy();
    const isWhole = (await stateOf(options)).mark === before;
    await options.copied(isWhole);
    if (isWhole) return true;
  }
  return false;
}

/** A state that every later write changes; null if writing does not pause. */
async function stateAtRest(options: CopyOptions): Promise<string | null> {
  const { clock, signal } = options;
  let before = await stateOf(options);
  for (let look = 0; look < LOOKS; look++) {
    const ageMs = Math.abs(clock.now().getTime() - before.changedMs);
    if (ageMs > STAMP_STEP_MS) return before.mark;
    await sleep(STAMP_STEP_MS, undefined, { signal });
    const after = await stateOf(options);
    if (after.mark === before.mark) return after.mark;
    before = after;
  }
  return null;
}

async function stateOf({ root, database }: CopyOptions): Promise<{ mark: string; changedMs: number }> {
  const all = await Promise.all(partsOf(database).map((part) => statsOf(root, part)));
  return {
    mark: all.map((stats) => stats && `${stats.ino}-${stats.size}-${stats.mtimeNs}-${stats.ctimeNs}`).join(),
    changedMs: Math.max(...all.map((stats) => Number(stats?.ctimeMs ?? 0))),
  };
}

async function statsOf(root: Buffer, path: Buffer): Promise<BigIntStats | null> {
  try {
    return await lstat(joinBytes(root, path), { bigint: true });
  } catch (error) {
    if (isAbsent(error)) return null;
    throw unreadable(path, error);
  }
}

/** Whether a part of a database does not exist. The database's name may leave no room for the ending. */
export function isAbsent(error: unknown): boolean {
  return isGone(error) || hasCode(error, 'ENAMETOOLONG');
}
