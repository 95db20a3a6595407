import { randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { manualClock } from '../../../../test/manual-clock.ts';
import { type BackupArchives, type BackupContents, createBackupContents } from './backup-browser.ts';
import type { ContentsWriter } from './contents-file.ts';
import { createExtractedFiles } from './extracted-files.ts';

const SUMMARY = { bytes: 1, files: 1, sha256: 'a'.repeat(64) };
const PAGE = { offset: 0, limit: 3 };
const install = { id: randomUUID(), name: 'shop' };
const MOST = 2_000;

let folder: string;
let contents: BackupContents;
let readings: number;
let extracting: number;
let mostExtracting: number;

function fill(writer: ContentsWriter): void {
  const entry = { modifiedAt: 1, target: null, place: 0, length: 1 };
  writer.add({ ...entry, path: 'many', type: 'folder', bytes: null });
  for (let at = 0; at < MOST; at += 1) {
    writer.add({ ...entry, path: `many/a-file-with-a-long-name-${at}`, type: 'file', bytes: 3 });
  }
}

const archives: BackupArchives = {
  async index(_install, _backupId, writer) {
    readings += 1;
    fill(writer);
    return SUMMARY;
  },
  async extract(_install, _backupId, _found, write) {
    extracting += 1;
    mostExtracting = Math.max(mostExtracting, extracting);
    await new Promise((resolve) => setImmediate(resolve));
    await write(Buffer.from('abc'));
    extracting -= 1;
  },
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'browsed-'));
  [readings, extracting, mostExtracting] = [0, 0, 0];
  contents = createBackupContents({
    folder: join(folder, 'indexes'),
    archives,
    files: createExtractedFiles({ folder: join(folder, 'files') }),
    log: pino({ level: 'silent' }),
  });
});
afterEach(() => rmSync(folder, { recursive: true }));

const indexOf = (backupId: string) => join(folder, 'indexes', install.id, `${backupId}.sqlite`);

test('an index that is damaged in the middle is made again', async () => {
  const id = randomUUID();
  const list = () => contents.browseBackup(install, id, { folder: 'many', ...PAGE });
  const first = await list();
  expect(first).toMatchObject({ count: MOST });
  // Its first pages can still be read.
  const file = openSync(indexOf(id), 'r+');
  const [start, end] = [3 * 4096, statSync(indexOf(id)).size];
  writeSync(file, Buffer.alloc(end - start, 0x5a), 0, end - start, start);
  closeSync(file);
  expect(await list()).toEqual(first);
  expect(readings).toBe(2);
});

test('a backup that is made again keeps no index of an earlier attempt', async () => {
  const id = randomUUID();
  const list = () => contents.browseBackup(install, id, { folder: '', ...PAGE });
  await contents.whileMade(install.id, id, async (writer) => {
    writer?.add({ path: 'old', type: 'file', bytes: 1, modifiedAt: 1, target: null, place: 0, length: 1 });
    return SUMMARY;
  });
  expect(await list()).toMatchObject({ entries: [{ name: 'old' }] });
  // The disk is full: the index cannot be finished.
  const summary = await contents.whileMade(install.id, id, async (writer) => {
    await writer?.discard();
    return SUMMARY;
  });
  expect(summary).toEqual(SUMMARY);
  expect(await list()).toMatchObject({ entries: [{ name: 'many' }] });
});

test('a caller that waits too long learns the reason', async () => {
  const id = randomUUID();
  await contents.browseBackup(install, id, { folder: '', ...PAGE });
  const impatient = createBackupContents({
    ...{ folder: join(folder, 'indexes'), log: pino({ level: 'silent' }), patienceMs: 0 },
    archives: { ...archives, extract: () => new Promise(() => {}), index: () => new Promise(() => {}) },
    files: createExtractedFiles({ folder: join(folder, 'files') }),
  });
  const part = { path: 'many/a-file-with-a-long-name-1', offset: 0, length: 1 };
  expect(await impatient.readBackupFile(install, id, part)).toEqual({
    refused: 'reading',
    reason: expect.stringMatching(/^The file is being fetched from the backup,/),
  });
  expect(await impatient.browseBackup(install, randomUUID(), { folder: '', ...PAGE })).toEqual({
    refused: 'reading',
    reason: expect.stringMatching(/^The backup is being read for the first time,/),
  });
});

test('the files of a website are unpacked one at a time', async () => {
  const id = randomUUID();
  const names = ['1', '2', '3', '4'];
  const read = (name: string) =>
    contents.readBackupFile(install, id, {
      path: `many/a-file-with-a-long-name-${name}`,
      offset: 1,
      length: 9,
    });
  const parts = await Promise.all(names.map(read));
  expect(parts).toEqual(names.map(() => ({ size: 3, bytes: Buffer.from('bc') })));
  expect(mostExtracting).toBe(1);
  expect(readdirSync(join(folder, 'files'))).toHaveLength(names.length);
  await contents.forget(install.id, id);
  expect(readdirSync(join(folder, 'files'))).toEqual([]);
});

/** Contents with other limits, in the same folder. */
const limited = (index: BackupArchives['index'], limits: { withinMs?: number; mostBytes?: number } = {}) => {
  const clock = manualClock();
  const other = createBackupContents({
    ...{ folder: join(folder, 'indexes'), log: pino({ level: 'silent' }), clock, ...limits },
    archives: { ...archives, index },
    files: createExtractedFiles({ folder: join(folder, 'files') }),
  });
  const list = (backupId: string) => other.browseBackup(install, backupId, { folder: 'many', ...PAGE });
  return { other, list, clock };
};
const never: BackupArchives['index'] = () => new Promise(() => {});

test('indexes together have a limit, and the least used one is made again', async () => {
  const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
  await contents.browseBackup(install, first, { folder: '', ...PAGE });
  // As a killed process leaves it.
  const half = `${indexOf(second)}.4c1f6f1d.part`;
  writeFileSync(half, 'half');
  utimesSync(half, 0, 0);
  const { list, clock } = limited(archives.index, { mostBytes: 2.5 * statSync(indexOf(first)).size });
  for (const id of [first, second, first, third]) {
    clock.advance(1_000);
    await list(id);
  }
  const kept = () => readdirSync(join(folder, 'indexes', install.id)).sort();
  expect(kept()).toEqual([`${first}.sqlite`, `${third}.sqlite`].sort());
  expect(readings).toBe(3);
  expect(await list(second)).toMatchObject({ count: MOST });
  expect(kept()).toHaveLength(2);
});

test('a backup that is deleted while its index is made leaves none', async () => {
  const id = randomUUID();
  const { other, list } = limited(async (_install, backupId, writer) => {
    fill(writer);
    await other.forget(install.id, backupId);
    return SUMMARY;
  });
  expect(await list(id)).toMatchObject({ refused: 'backup' });
  expect(existsSync(indexOf(id))).toBe(false);
});

test('one index that takes forever holds no others, and ends', async () => {
  const stuck = randomUUID();
  const { other, list } = limited((install, backupId, writer, signal) =>
    (backupId === stuck ? never : archives.index)(install, backupId, writer, signal),
  );
  const cancelled = new AbortController();
  const waiting = other.withContents(install, stuck, async () => {}, cancelled.signal);
  expect(await list(randomUUID())).toMatchObject({ count: MOST });
  cancelled.abort(new Error('cancelled'));
  await expect(waiting).rejects.toThrow('cancelled');
  const { other: hasty } = limited(never, { withinMs: 1 });
  await expect(hasty.withContents(install, randomUUID(), async () => {})).rejects.toThrow('took too long');
});
