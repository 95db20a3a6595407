import { randomBytes, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Value } from 'typebox/value';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rounds } from '../../../../test/rounds.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { openFilesIn } from '../open-files.fixture.ts';
import { removeTree } from './archive-exchange.ts';
import { createManifestWriter, ManifestEntry, ManifestHeader } from './archive-manifest.ts';
import { createLinesWriter } from './checked-lines.ts';
import { damagedBackups } from './damaged-backups.ts';
import { linesIn, makeSnapshotPlace, type SnapshotPlace, stateOf } from './snapshots.fixture.ts';
import { chunksIn, readPackList } from './store/pack-file.ts';

/** Places of a file at which a byte is changed. */
const FLIPS = rounds(6, 40);

let here: SnapshotPlace;
beforeEach(() => {
  here = makeSnapshotPlace();
});
afterEach(() => removeTree(here.base));

describe('damage', () => {
  /** Restoring must fail with a clear sentence and leave the website as it is. */
  async function expectRefusal(): Promise<string> {
    const before = stateOf(here.site);
    const error = await here.snapshots.restore(here.install, here.backupId).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(PermanentHostError);
    expect(stateOf(here.site)).toEqual(before);
    expect(fs.readdirSync(join(here.base, 'sites'))).toEqual([here.install.id]);
    const message = error instanceof Error ? error.message : '';
    expect(message).toMatch(
      /^The snapshot \S+ of shop is damaged: .+\. The website's files were not touched\.$/,
    );
    return message;
  }

  function fill(): void {
    for (let i = 0; i < 20; i++) here.put(`f${i}`, randomBytes(1000 * i));
    here.put('text', 'lorem ipsum '.repeat(10_000));
  }

  /** Changes a file in many ways. A restore must refuse each. Then the file is as before. */
  async function expectNoticed(path: string, lengths: readonly number[]): Promise<void> {
    const whole = fs.readFileSync(path);
    for (const length of lengths) {
      fs.writeFileSync(path, whole.subarray(0, length < 0 ? whole.length + length : length));
      await expectRefusal();
    }
    for (let i = 0; i < FLIPS; i++) {
      const bytes = Buffer.from(whole);
      const at = Math.floor((bytes.length * i) / FLIPS);
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      fs.writeFileSync(path, bytes);
      await expectRefusal();
    }
    fs.writeFileSync(path, Buffer.concat([whole, whole]));
    await expectRefusal();
    fs.writeFileSync(path, whole);
    expect(openFilesIn(here.base)).toEqual([]);
  }

  describe('of a backup', () => {
    beforeEach(async () => {
      fill();
      await here.snapshots.snapshot(here.install, here.backupId);
      here.wreck();
    });

    test('a pack changed or cut off anywhere', async () => {
      await expectNoticed(here.packs()[0] ?? '', [0, 1, 1000, -1]);
      await here.snapshots.restore(here.install, here.backupId);
    });

    test('a missing pack', async () => {
      fs.rmSync(here.packs()[0] ?? '');
      expect(await expectRefusal()).toMatch(/is missing/);
    });

    test('a manifest changed, cut off or taken from another snapshot', async () => {
      await expectNoticed(here.manifestPath(), [0, 5, 300, -2]);
      const other = randomUUID();
      await here.snapshots.snapshot(here.install, other);
      fs.copyFileSync(here.manifestPath(other), here.manifestPath());
      expect(await expectRefusal()).toContain('that of another snapshot');
    });
  });

  describe('of an archive of an earlier version', () => {
    beforeEach(async () => {
      fill();
      await here.archive();
      here.wreck();
    });

    test('an archive changed or cut off anywhere', async () => {
      await expectNoticed(here.archiveFiles().archive, [0, 1, 1000, -1]);
      await here.snapshots.restore(here.install, here.backupId);
    });

    test('a manifest changed, cut off, removed or taken from another archive', async () => {
      const { manifest } = here.archiveFiles();
      await expectNoticed(manifest, [0, 5, 300, -2]);
      fs.rmSync(manifest);
      expect(await expectRefusal()).toContain('its manifest is missing');
      const other = randomUUID();
      await here.archive(other);
      fs.copyFileSync(here.archiveFiles(other).manifest, manifest);
      fs.copyFileSync(here.archiveFiles(other).archive, here.archiveFiles().archive);
      expect(await expectRefusal()).toContain('that of another snapshot');
    });
  });
});

test('a damaged list of several backups keeps all contents, and each of these backups is named until it is deleted', async () => {
  here.put('page.html', 'first');
  const [first, second, third] = [here.backupId, randomUUID(), randomUUID()];
  for (const id of [first, second]) await here.snapshots.snapshot(here.install, id);
  // They have one list, or two if the state of the page was certain only for the second one.
  const packs = here.packs();
  here.put('page.html', 'another');
  await here.snapshots.snapshot(here.install, third);
  const whole = packs.map((pack) => fs.readFileSync(pack));
  const writeDamaged = () => {
    for (const [index, pack] of packs.entries()) {
      const bytes = Buffer.from(whole[index] ?? []);
      for (const { offset } of chunksIn(readPackList(dirname(pack), basename(pack)))) {
        bytes[offset + 8] = (bytes[offset + 8] ?? 0) ^ 1;
      }
      fs.writeFileSync(pack, bytes);
    }
  };
  const before = here.packs();
  writeDamaged();
  const named = async () => {
    const [found] = await damagedBackups(join(here.base, 'backups'));
    return found?.unreadable.map(({ id }) => id).sort();
  };
  const damaged = [first, second];
  await here.snapshots.discard(here.install, randomUUID());
  expect(await named()).toEqual(damaged.sort());
  // Packs from a platform backup repair them.
  for (const [index, pack] of packs.entries()) fs.writeFileSync(pack, whole[index] ?? '');
  expect(await named()).toEqual([]);
  writeDamaged();
  await here.snapshots.discard(here.install, first);
  expect(await named()).toEqual([second]);
  expect(here.packs()).toEqual(before);
  await here.snapshots.discard(here.install, second);
  expect(await damagedBackups(join(here.base, 'backups'))).toEqual([]);
  for (const pack of packs) expect(here.packs()).not.toContain(pack);
  here.wreck();
  await here.snapshots.restore(here.install, third);
  expect(fs.readFileSync(join(here.site, 'page.html'), 'utf8')).toBe('another');
});

describe('entries that would leave the folder', () => {
  /** A backup of a harmless folder, with forged entries in its manifest. */
  async function forge(from: string, to: string, make: () => void): Promise<unknown> {
    make();
    await here.snapshots.snapshot(here.install, here.backupId);
    const [header, ...entries] = here.manifestLines().slice(0, -1);
    const end = here.manifestLines().at(-1);
    // The version before has its entries in the manifest.
    const lines = [{ ...Object(header), version: 2 }, ...entries];
    fs.rmSync(here.manifestPath());
    const writer = await createLinesWriter(here.manifestPath());
    for (const line of lines) {
      const isForged = Object(line).path === from;
      await writer.add({
        ...Object(line),
        ...(isForged ? { path_base64: Buffer.from(to).toString('base64') } : {}),
      });
    }
    await writer.finish({ totals: Object(end).totals });
    await writer.close();
    return here.snapshots.restore(here.install, here.backupId).catch((e: unknown) => e);
  }

  /** The same of an earlier version. The archive keeps the harmless name. The manifest, which provides names in bytes, has the bad one. */
  async function forgeArchive(from: string, to: string, make: () => void): Promise<unknown> {
    make();
    const totals = await here.archive();
    const { manifest } = here.archiveFiles();
    const [header, ...entries] = linesIn(manifest).slice(0, -1);
    fs.rmSync(manifest);
    const writer = await createManifestWriter(manifest, Value.Parse(ManifestHeader, header));
    for (const line of entries) {
      const entry = Value.Parse(ManifestEntry, line);
      const isForged = entry.path === from;
      await writer.add(isForged ? { ...entry, path_base64: Buffer.from(to).toString('base64') } : entry);
    }
    await writer.finish(totals);
    await writer.close();
    return here.snapshots.restore(here.install, here.backupId).catch((e: unknown) => e);
  }

  test.each([
    '../escaped',
    '/tmp/escaped',
    'folder/../../escaped',
    '..',
    'folder/..',
    '',
    'a\0b',
    'missing/x',
    'link/x',
    'file/x',
    '.',
  ])('%j', async (path) => {
    const make = () => {
      here.put('victim', 'x');
      here.put('file', 'x');
      here.put('folder/x', 'x');
      fs.symlinkSync(here.base, join(here.site, 'link'));
    };
    for (const forging of [forge, forgeArchive]) {
      const error = await forging('victim', path, make);
      expect(error).toBeInstanceOf(PermanentHostError);
      expect(String(error)).toMatch(/would lie outside the folder/);
      expect(fs.existsSync(join(here.base, 'sites', 'escaped'))).toBe(false);
      expect(fs.readdirSync(join(here.base, 'sites'))).toEqual([here.install.id]);
      await removeTree(here.base);
      here = makeSnapshotPlace();
    }
  });

  test('a file that replaces a link is not written through the link', async () => {
    for (const forging of [forge, forgeArchive]) {
      const error = await forging('victim', 'a link', () => {
        here.put('victim', 'x');
        fs.symlinkSync(join(here.base, 'target'), join(here.site, 'a link'));
      });
      expect(error).toBeInstanceOf(Error);
      expect(fs.existsSync(join(here.base, 'target'))).toBe(false);
      await removeTree(here.base);
      here = makeSnapshotPlace();
    }
  });
});
