import { randomBytes, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { removeTree } from './archive-exchange.ts';
import { createLinesWriter } from './checked-lines.ts';
import { expectSameState, makeSnapshotPlace, type SnapshotPlace, stateOf } from './snapshots.fixture.ts';

let here: SnapshotPlace;
beforeEach(() => {
  // Ahead, so that the files look as if they had not changed for long.
  here = makeSnapshotPlace({ clock: { now: () => new Date(Date.now() + 3_600_000) } });
});
afterEach(() => removeTree(here.base));

const SMALL = 1_000;
const LARGE = 600_000;

const at = (path: string): string => join(here.site, path);

const linesOf = (id = here.backupId): Record<string, unknown>[] =>
  here.manifestLines(id).map((line) => ({ ...Object(line) }));
const lineOf = (path: string, id = here.backupId) => linesOf(id).find((line) => line.path === path);

/** Writes other content without a trace in size and time of the last write. */
function overwriteSecretly(path: string): void {
  const { atime, mtime, size } = fs.statSync(at(path));
  fs.writeFileSync(at(path), randomBytes(size));
  fs.utimesSync(at(path), atime, mtime);
}

test('a file that is as it was is not read again', async () => {
  // In folders whose names are ordered otherwise than the paths of what is in them.
  const kept = ['dir/kept', 'dir-1/kept', 'dir.kept', 'kept'];
  for (const path of [...kept, 'other']) here.put(path, randomBytes(SMALL));
  await here.snapshots.snapshot(here.install, here.backupId);
  // The former backup says that they have the content of another file. Only a reading would notice.
  // An earlier version has made it: its entries are in the manifest.
  const lines = linesOf().map((line, place) => (place === 0 ? { ...line, version: 2 } : line));
  const chunks = lineOf('other')?.chunks;
  fs.rmSync(here.manifestPath());
  const writer = await createLinesWriter(here.manifestPath());
  for (const line of lines.slice(0, -1)) {
    await writer.add(kept.includes(String(line.path)) ? { ...line, chunks } : line);
  }
  await writer.finish({ totals: lines.at(-1)?.totals });
  await writer.close();

  const next = randomUUID();
  await here.snapshots.snapshot(here.install, next);
  for (const path of kept) expect(lineOf(path, next)?.chunks, path).toBe(chunks);
  overwriteSecretly('kept');
  const last = randomUUID();
  await here.snapshots.snapshot(here.install, last);
  expect(lineOf('dir/kept', last)?.chunks).toBe(chunks);
  expect(lineOf('kept', last)?.chunks).not.toBe(chunks);
});

test('a change is noticed, whatever hides it', async () => {
  for (const bytes of [SMALL, LARGE]) {
    for (const name of ['same', 'written', 'replaced', 'linked', 'first', 'second', 'mode', 'link', 'gone']) {
      here.put(`${bytes}/${name}`, randomBytes(bytes));
      fs.utimesSync(at(`${bytes}/${name}`), 1_700_000_000, 1_700_000_000);
    }
  }
  await here.snapshots.snapshot(here.install, here.backupId);
  for (const bytes of [SMALL, LARGE]) {
    const of = (name: string): string => at(`${bytes}/${name}`);
    overwriteSecretly(`${bytes}/written`);
    here.put(`${bytes}/new`, randomBytes(bytes));
    fs.utimesSync(of('new'), 1_700_000_000, 1_700_000_000);
    fs.renameSync(of('new'), of('replaced'));
    fs.linkSync(of('linked'), of('name'));
    overwriteSecretly(`${bytes}/name`);
    fs.renameSync(of('first'), of('third'));
    fs.renameSync(of('second'), of('first'));
    fs.renameSync(of('third'), of('second'));
    fs.chmodSync(of('mode'), 0o600);
    fs.rmSync(of('link'));
    fs.symlinkSync('same', of('link'));
    fs.rmSync(of('gone'));
    fs.mkdirSync(of('gone'));
  }
  const before = stateOf(here.site);
  const next = randomUUID();
  await here.snapshots.snapshot(here.install, next);
  expect(lineOf(`${LARGE}/same`, next)).toEqual(lineOf(`${LARGE}/same`));
  here.wreck();
  await here.snapshots.restore(here.install, next);
  expectSameState(stateOf(here.site), before);
});

test.each<[what: string, damage: () => void]>([
  ['a pack of the former backup is lost', () => fs.rmSync(here.packs()[0] ?? '')],
  ['its manifest is damaged', () => fs.truncateSync(here.manifestPath(), 400)],
])('files are read again if %s', async (_what, damage) => {
  here.put('small', 'x');
  here.put('large', randomBytes(LARGE));
  await here.snapshots.snapshot(here.install, here.backupId);
  damage();
  const before = stateOf(here.site);
  const next = randomUUID();
  await here.snapshots.snapshot(here.install, next);
  here.wreck();
  await here.snapshots.restore(here.install, next);
  expectSameState(stateOf(here.site), before);
});

test('files that have just changed and databases are read again', async () => {
  here.put('stats.db', 'SQLite format 3\0 and more');
  here.put('page', 'x');
  await here.snapshots.snapshot(here.install, here.backupId);
  expect(lineOf('page')?.state).toEqual(expect.any(String));
  expect(lineOf('stats.db')).not.toHaveProperty('state');
  const now = makeSnapshotPlace({ clock: systemClock });
  now.put('page', 'x');
  await now.snapshots.snapshot(now.install, now.backupId);
  const page = now.manifestLines().find((line) => Object(line).path === 'page');
  expect(page).not.toHaveProperty('state');
  await removeTree(now.base);
});
