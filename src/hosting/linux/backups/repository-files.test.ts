import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LEAST_FREE_BYTES } from '../../../lib/free-space.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { REPOSITORY_FILE_BYTES, REPOSITORY_MARK, REPOSITORY_PART } from '../../contract/moves.ts';
import {
  listRepositoryFiles,
  readRepositoryFile,
  trimRepositoryFiles,
  writeRepositoryFile,
} from './repository-files.ts';
import { placeIn, type RepositoryPlace } from './repository-place.ts';

const ID = '9d2b1a3e-0000-4000-8000-000000000001';
let folder: string;
let place: RepositoryPlace;
/** Free bytes of the disk. */
let free: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-files-'));
  free = LEAST_FREE_BYTES;
  place = placeIn({ address: join(folder, 'backups'), credentials: null }, ID);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const scratch = () => join(folder, 'scratch');
const sha256 = (content: Buffer) => createHash('sha256').update(content).digest('hex');
const dataFile = (content: Buffer) => `data/${sha256(content).slice(0, 2)}/${sha256(content)}`;

const write = (name: string, content: Buffer, part: { offset?: number; isLast?: boolean } = {}) =>
  writeRepositoryFile(
    place,
    join(scratch(), 'of-shop-'),
    { name, content, offset: part.offset ?? 0, isLast: part.isLast ?? true },
    { claim: async () => {}, free: async () => free },
  );

it('writes a file in parts, also if one is sent twice, and reads it in parts', async () => {
  const content = Buffer.alloc(REPOSITORY_PART + 7, 'content');
  const name = dataFile(content);
  const [first, second] = [content.subarray(0, REPOSITORY_PART), content.subarray(REPOSITORY_PART)];
  await write(name, first, { isLast: false });
  expect(await listRepositoryFiles(place, null)).toEqual([]);
  await write(name, second, { offset: REPOSITORY_PART, isLast: false });
  await write(name, second, { offset: REPOSITORY_PART });
  expect(await listRepositoryFiles(place, null)).toEqual([name]);
  expect(await readRepositoryFile(place, name, 0)).toEqual(first);
  expect(await readRepositoryFile(place, name, REPOSITORY_PART)).toEqual(second);
  expect(await readRepositoryFile(place, name, content.length)).toEqual(Buffer.alloc(0));
  expect(await readdir(scratch())).toEqual([]);
});

it('takes no file whose content has another name, or that lacks a part', async () => {
  const name = dataFile(Buffer.from('whole'));
  await expect(write(name, Buffer.from('damaged'))).rejects.toThrow(/differs from its name/);
  await write(name, Buffer.from('wh'), { isLast: false });
  await expect(write(name, Buffer.from('e'), { offset: 4 })).rejects.toThrow(/is missing/);
  expect(await listRepositoryFiles(place, null)).toEqual([]);
});

it('takes no file that has no end, and none that fills the disk', async () => {
  const content = Buffer.from('more');
  const name = dataFile(content);
  const offset = REPOSITORY_FILE_BYTES;
  await expect(write(name, content, { offset, isLast: false })).rejects.toThrow(/too large/);
  free = LEAST_FREE_BYTES - 1;
  await expect(write(name, content)).rejects.toThrow(PermanentHostError);
  expect(await listRepositoryFiles(place, null)).toEqual([]);
  await write(REPOSITORY_MARK, content);
});

it.each([
  '../config',
  'data/../config',
  '/etc/passwd',
  'locks/'.padEnd(70, 'a'),
  `data/zz/${'a'.repeat(64)}`,
  '',
])('refuses the name %j', async (name) => {
  await expect(write(name, Buffer.from('x'))).rejects.toThrow(PermanentHostError);
  await expect(readRepositoryFile(place, name, 0)).rejects.toThrow(PermanentHostError);
  await expect(trimRepositoryFiles(place, [name])).rejects.toThrow(PermanentHostError);
});

it('lists files in order after a name, without locks, and deletes them', async () => {
  const contents = ['a', 'b', 'c'].map((text) => Buffer.from(text));
  const names = contents.map((content) => `snapshots/${sha256(content)}`).sort();
  for (const content of contents) await write(`snapshots/${sha256(content)}`, content);
  await write('config', Buffer.from('anything'));
  await place.storage.write(`locks/${'a'.repeat(64)}`, Buffer.from('lock'));
  const all = ['config', ...names];
  expect(await listRepositoryFiles(place, null)).toEqual(all);
  expect(await listRepositoryFiles(place, all[1] ?? '')).toEqual(all.slice(2));
  await trimRepositoryFiles(place, [...names, ...names]);
  expect(await listRepositoryFiles(place, null)).toEqual(['config']);
  await expect(readRepositoryFile(place, names[0] ?? '', 0)).rejects.toThrow(/has no file/);
});
