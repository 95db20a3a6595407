import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exchangeFoldersOf, removeTree } from './archive-exchange.ts';
import { makeSnapshotPlace, type SnapshotPlace } from './snapshots.fixture.ts';

let here: SnapshotPlace;
beforeEach(() => {
  here = makeSnapshotPlace();
});
afterEach(() => removeTree(here.base));

describe('a killed restore', () => {
  beforeEach(async () => {
    here.put('a', 'from the snapshot');
    await here.snapshots.snapshot(here.install, here.backupId);
    here.put('a', 'present');
  });

  function contentOf(folder = here.site): string {
    return fs.readFileSync(join(folder, 'a'), 'utf8');
  }

  test('while the new folder was being filled', async () => {
    const { next } = exchangeFoldersOf(here.site);
    fs.mkdirSync(next);
    fs.writeFileSync(join(next, 'a'), 'half');
    await here.snapshots.recover(here.install.id);
    expect(contentOf()).toBe('present');
    expect(fs.existsSync(next)).toBe(false);
  });

  test('between the renames: the old folder is back, and restoring again works', async () => {
    const { next, old } = exchangeFoldersOf(here.site);
    fs.renameSync(here.site, old);
    fs.cpSync(old, next, { recursive: true });
    await here.snapshots.recover(here.install.id);
    expect(contentOf()).toBe('present');
    expect(fs.readdirSync(join(here.base, 'sites'))).toEqual([here.install.id]);
    fs.renameSync(here.site, old);
    await here.snapshots.restore(here.install, here.backupId);
    expect(contentOf()).toBe('from the snapshot');
    expect(fs.readdirSync(join(here.base, 'sites'))).toEqual([here.install.id]);
  });

  test('before the old folder was removed', async () => {
    const { old } = exchangeFoldersOf(here.site);
    fs.cpSync(here.site, old, { recursive: true });
    fs.chmodSync(old, 0o555);
    fs.writeFileSync(join(here.site, 'a'), 'from the snapshot');
    await here.snapshots.recover(here.install.id);
    expect(contentOf()).toBe('from the snapshot');
    expect(fs.existsSync(old)).toBe(false);
  });

  test('between the renames, after which the folder was recreated: both are kept', async () => {
    const { next, old, stray } = exchangeFoldersOf(here.site);
    fs.renameSync(here.site, old);
    fs.cpSync(old, next, { recursive: true });
    fs.mkdirSync(here.site);
    fs.writeFileSync(join(here.site, 'a'), 'starter page');
    await here.snapshots.recover(here.install.id);
    expect(contentOf()).toBe('present');
    expect(contentOf(stray)).toBe('starter page');
    expect(fs.existsSync(next)).toBe(false);
  });

  test('operations during a restore wait for it', async () => {
    await Promise.all([
      here.snapshots.restore(here.install, here.backupId),
      here.snapshots.recover(here.install.id),
      here.snapshots.restore(here.install, here.backupId),
    ]);
    expect(contentOf()).toBe('from the snapshot');
    expect(fs.readdirSync(join(here.base, 'sites'))).toEqual([here.install.id]);
  });

  test('a later snapshot contains the folder that was put back', async () => {
    fs.renameSync(here.site, exchangeFoldersOf(here.site).old);
    const second = randomUUID();
    await here.snapshots.snapshot(here.install, second);
    await here.snapshots.restore(here.install, second);
    expect(contentOf()).toBe('present');
  });

  test('files behind a link are not replaced', async () => {
    fs.renameSync(here.site, join(here.base, 'elsewhere'));
    fs.symlinkSync(join(here.base, 'elsewhere'), here.site);
    await expect(here.snapshots.restore(here.install, here.backupId)).rejects.toThrow(
      /behind a link; nothing was restored/,
    );
    expect(contentOf()).toBe('present');
  });
});
