import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rm } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { LEAST_FREE_BYTES } from '../../../lib/free-space.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import {
  REPOSITORY_FILE,
  REPOSITORY_FILE_BYTES,
  REPOSITORY_MARK,
  REPOSITORY_PAGE,
  REPOSITORY_PART,
} from '../../contract/moves.ts';
import type { RepositoryPlace } from './repository-place.ts';

const FILE = new RegExp(REPOSITORY_FILE);

/**
 * Names of the files of a repository after `after`, in order. restic's files never change, so equal names mean equal
 * contents. Locks are left out.
 */
export async function listRepositoryFiles(
  { storage }: RepositoryPlace,
  after: string | null,
): Promise<string[]> {
  const inFolder = async (folder: string) => (await storage.list(folder)).map((name) => `${folder}/${name}`);
  const names = [
    ...(await storage.list('')),
    ...(await inFolder('index')),
    ...(await inFolder('keys')),
    ...(await inFolder('snapshots')),
  ];
  for (const folder of await inFolder('data')) names.push(...(await inFolder(folder)));
  return names
    .filter((name) => FILE.test(name) && (after === null || name > after))
    .sort()
    .slice(0, REPOSITORY_PAGE);
}

/** Reads a part of a file. Rejects with a {@link PermanentHostError} if there is no such file. */
export async function readRepositoryFile(
  { storage }: RepositoryPlace,
  name: string,
  offset: number,
): Promise<Buffer> {
  const part = await storage.read(checkedName(name), { offset, length: REPOSITORY_PART });
  if (part === null) throw new PermanentHostError(`The backup repository has no file ${name}.`);
  return part;
}

/** What a file that is written needs of the machine. */
export interface WriteOptions {
  /** Called before the file is put into the repository. */
  claim(): Promise<void>;
  /** Free bytes of the disk. */
  free(): Promise<number>;
}

/**
 * Collects a file at a path that begins with `collecting`, and puts it into the repository with its last part. Rejects with a {@link
 * PermanentHostError} if it is too large, or leaves the websites of this machine too little disk.
 */
export async function writeRepositoryFile(
  { storage }: RepositoryPlace,
  collecting: string,
  { name, offset, isLast, content }: { name: string; offset: number; isLast: boolean; content: Buffer },
  { claim, free }: WriteOptions,
): Promise<void> {
  if (offset + content.length > REPOSITORY_FILE_BYTES) {
    throw new PermanentHostError(`The file ${checkedName(name)} is too large for a backup repository.`);
  }
  const collected = `${collecting}${checkedName(name).replaceAll('/', '-')}`;
  await mkdir(dirname(collected), { recursive: true, mode: 0o700 });
  // The mark of a former copy is a few bytes, without which a full machine could not be cleared.
  if (name !== REPOSITORY_MARK && (await free()) < LEAST_FREE_BYTES) {
    throw new PermanentHostError('The new machine has too little disk for the backups of the website.');
  }
  const file = await open(collected, offset === 0 ? 'w' : 'r+', 0o600);
  try {
    // A part that is sent twice replaces itself.
    if ((await file.stat()).size < offset) throw new Error(`a part of ${name} is missing`);
    await file.truncate(offset);
    await file.write(content, 0, content.length, offset);
  } finally {
    await file.close();
  }
  if (!isLast) return;
  const whole = await readFile(collected);
  const isNamed = name !== 'config' && name !== REPOSITORY_MARK;
  if (isNamed && createHash('sha256').update(whole).digest('hex') !== basename(name)) {
    await rm(collected, { force: true });
    throw new Error(`the copy of ${name} differs from its name`);
  }
  await claim();
  await storage.write(name, whole);
  await rm(collected, { force: true });
}

export async function trimRepositoryFiles(
  { storage }: RepositoryPlace,
  names: readonly string[],
): Promise<void> {
  for (const name of names) await storage.remove(checkedName(name));
}

function checkedName(name: string): string {
  if (!FILE.test(name)) throw new PermanentHostError(`${JSON.stringify(name)} is no file of a repository.`);
  return name;
}
