import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ContentsWriter, IndexedEntry } from '../../websites/backup-contents/contents-file.ts';
import { removeTree } from './archive-exchange.ts';
import { createLinesWriter } from './checked-lines.ts';
import { expectSameState, makeSnapshotPlace, type SnapshotPlace, stateOf } from './snapshots.fixture.ts';

let here: SnapshotPlace;
beforeEach(() => {
  here = makeSnapshotPlace();
});
afterEach(() => removeTree(here.base));

const contentOf = (path: string): string => fs.readFileSync(join(here.site, path), 'utf8');

test('an archive of an earlier version is listed, read, restored whole or in part, passed on and deleted', async () => {
  here.put('index.html', 'archived');
  here.put('photos/large', 'x'.repeat(300_000));
  fs.symlinkSync('index.html', join(here.site, 'link'));
  const before = stateOf(here.site);
  const made = await here.archive();
  const { snapshots, install, backupId } = here;
  expect(await snapshots.held(install.id)).toEqual([backupId]);

  const entries: IndexedEntry[] = [];
  const writer: ContentsWriter = {
    add: (entry) => void entries.push(entry),
    addTable: () => {},
    noteDump: () => {},
    addChunk: () => {},
    finish: async () => {},
    discard: async () => {},
  };
  await snapshots.index(install, backupId, writer, { isHidden: () => false });
  expect(entries.map(({ path }) => path)).toEqual(['index.html', 'link', 'photos', 'photos/large']);
  let read = '';
  for (const entry of entries.filter(({ path }) => path === 'index.html')) {
    await snapshots.extract(install, backupId, entry, async (bytes) => {
      read += bytes.toString();
    });
  }
  expect(read).toBe('archived');

  here.wreck();
  const summary = await snapshots.restore(install, backupId);
  expect(summary).toEqual({ bytes: made.archive_bytes, files: 2, sha256: made.archive_sha256 });
  expectSameState(stateOf(here.site), before);

  here.put('index.html', 'present');
  await snapshots.restoreChosen(install, backupId, {
    items: 2,
    isChosen: (path) => path === '.' || path === 'index.html',
    summary,
    fill: async (next, present) => fs.cpSync(present, next, { recursive: true }),
    complete: async (next, _present, chosen) =>
      fs.copyFileSync(join(chosen, 'index.html'), join(next, 'index.html')),
  });
  expect(contentOf('index.html')).toBe('archived');

  let tar = 0;
  await snapshots.unpack(install, backupId, async (bytes) => {
    tar += bytes.length;
  });
  expect(tar).toBeGreaterThan(300_000);
  await snapshots.discard(install, backupId);
  expect(await snapshots.held(install.id)).toEqual([]);
  expect(fs.readdirSync(here.backups)).toEqual([]);
});

test('after an upgrade, new backups are beside archives, and each is deleted alone', async () => {
  here.put('index.html', 'archived');
  await here.archive();
  here.put('index.html', 'stored');
  const later = randomUUID();
  const { snapshots, install, backupId } = here;
  await snapshots.snapshot(install, later);
  expect((await snapshots.held(install.id)).sort()).toEqual([backupId, later].sort());
  // A job that asks for the archive again finds it.
  const archive = await snapshots.snapshot(install, backupId);
  expect(archive.bytes).toBe(fs.statSync(here.archiveFiles().archive).size);
  await snapshots.restore(install, backupId);
  expect(contentOf('index.html')).toBe('archived');
  await snapshots.discard(install, backupId);
  await snapshots.restore(install, later);
  expect(contentOf('index.html')).toBe('stored');
});

test('a backup of a newer version is refused with the reason, and pruning leaves its chunks', async () => {
  const { snapshots, install, backupId } = here;
  here.put('index.html', 'x'.repeat(100));
  await snapshots.snapshot(install, backupId);
  const [header, ...entries] = here.manifestLines().slice(0, -1);
  fs.rmSync(here.manifestPath());
  const lines = await createLinesWriter(here.manifestPath());
  for (const line of [{ ...Object(header), version: 4 }, ...entries]) await lines.add(Object(line));
  await lines.finish({});
  await lines.close();
  await expect(snapshots.restore(install, backupId)).rejects.toThrow(
    /is damaged: a newer version of Homeport has made it/,
  );
  const other = randomUUID();
  await snapshots.snapshot(install, other);
  const packs = here.packs();
  await snapshots.discard(install, other);
  expect(here.packs()).toEqual(packs);
});

test.each([10, 1_000_000])(
  'a store that fails leaves no file of %i bytes out, but fails the backup',
  async (bytes) => {
    const { snapshots, install, backupId } = here;
    here.put('index.html', Buffer.alloc(bytes, 'x'));
    fs.mkdirSync(here.backups, { recursive: true });
    fs.writeFileSync(join(here.backups, 'packs'), 'no folder');
    await expect(snapshots.snapshot(install, backupId)).rejects.toThrow(/ENOTDIR/);
    expect(fs.readdirSync(here.backups)).toEqual(['packs']);
  },
);

test('several backups of one install at once, and a deletion between them, leave whole backups', async () => {
  const { snapshots, install, backupId } = here;
  for (let n = 0; n < 50; n++) here.put(`f${n}`, `content ${n}`);
  const [second, third] = [randomUUID(), randomUUID()];
  await Promise.all([
    snapshots.snapshot(install, backupId),
    snapshots.snapshot(install, second),
    snapshots.discard(install, backupId),
    snapshots.snapshot(install, third),
  ]);
  const before = stateOf(here.site);
  for (const id of [second, third]) {
    here.wreck();
    await snapshots.restore(install, id);
    expectSameState(stateOf(here.site), before);
  }
});
