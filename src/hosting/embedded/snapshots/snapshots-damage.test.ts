import { randomBytes, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { Value } from 'typebox/value';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { openFilesIn } from '../open-files.fixture.ts';
import { removeTree } from './archive-exchange.ts';
import { createManifestWriter, ManifestEntry } from './archive-manifest.ts';
import { writeArchive } from './archive-write.ts';
import { makeSnapshotPlace, type SnapshotPlace, stateOf } from './snapshots.fixture.ts';

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

  beforeEach(async () => {
    for (let i = 0; i < 20; i++) here.put(`f${i}`, randomBytes(1000 * i));
    here.put('text', 'lorem ipsum '.repeat(10_000));
    await here.snapshots.snapshot(here.install, here.backupId);
    here.wreck();
  });

  test('any flipped byte of the archive; no file stays open', async () => {
    const whole = fs.readFileSync(here.archivePath());
    fs.truncateSync(here.archivePath(), 100);
    await expectRefusal();
    for (let i = 0; i < 40; i++) {
      const bytes = Buffer.from(whole);
      const at = Math.floor((bytes.length * i) / 40);
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      fs.writeFileSync(here.archivePath(), bytes);
      await expectRefusal();
    }
    expect(openFilesIn(here.base)).toEqual([]);
    fs.writeFileSync(here.archivePath(), whole);
    await here.snapshots.restore(here.install, here.backupId);
  });

  test('an archive truncated or extended anywhere', async () => {
    const whole = fs.readFileSync(here.archivePath());
    for (const length of [0, 1, 10, 1000, whole.length >> 1, whole.length - 1]) {
      fs.writeFileSync(here.archivePath(), whole.subarray(0, length));
      await expectRefusal();
    }
    fs.writeFileSync(here.archivePath(), Buffer.concat([whole, Buffer.of(0)]));
    await expectRefusal();
    fs.writeFileSync(here.archivePath(), Buffer.concat([whole, whole]));
    await expectRefusal();
  });

  test('a manifest changed, truncated, emptied, removed or taken from another snapshot', async () => {
    const path = here.archivePath('manifest.jsonl');
    const whole = fs.readFileSync(path);
    for (let i = 0; i < 40; i++) {
      const bytes = Buffer.from(whole);
      const at = Math.floor((bytes.length * i) / 40);
      bytes[at] = (bytes[at] ?? 0) ^ 0x01;
      fs.writeFileSync(path, bytes);
      await expectRefusal();
    }
    for (const length of [0, 5, 300, whole.length - 2]) {
      fs.writeFileSync(path, whole.subarray(0, length));
      await expectRefusal();
    }
    fs.rmSync(path);
    expect(await expectRefusal()).toContain('its manifest is missing');
    const other = randomUUID();
    await here.snapshots.snapshot(here.install, other);
    fs.copyFileSync(here.archivePath('manifest.jsonl', other), path);
    fs.copyFileSync(here.archivePath('tar.zst', other), here.archivePath());
    expect(await expectRefusal()).toContain('that of another snapshot');
  });
});

describe('entries that would leave the folder', () => {
  /** An archive of a harmless folder, with forged entries in manifest and archive. */
  async function forge(from: string, to: string, make: () => void): Promise<unknown> {
    make();
    fs.mkdirSync(dirname(here.archivePath()), { recursive: true });
    const header = {
      format: 'homeport-snapshot' as const,
      version: 1 as const,
      install_id: here.install.id,
      install_name: here.install.name,
      backup_id: here.backupId,
      created_at: '',
    };
    const files = { archive: here.archivePath(), manifest: here.archivePath('manifest.jsonl') };
    const totals = await writeArchive(here.site, files, header, systemClock);
    const entries = here
      .manifestLines()
      .slice(1, -1)
      .map((line) => Value.Parse(ManifestEntry, line));
    fs.rmSync(files.manifest);
    const writer = await createManifestWriter(files.manifest, header);
    for (const entry of entries) {
      // The archive keeps the harmless name. The manifest, which provides names in bytes, has the bad one.
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
    const error = await forge('victim', path, () => {
      here.put('victim', 'x');
      here.put('file', 'x');
      here.put('folder/x', 'x');
      fs.symlinkSync(here.base, join(here.site, 'link'));
    });
    expect(error).toBeInstanceOf(PermanentHostError);
    expect(String(error)).toMatch(/would lie outside the folder/);
    expect(fs.existsSync(join(here.base, 'sites', 'escaped'))).toBe(false);
    expect(fs.readdirSync(join(here.base, 'sites'))).toEqual([here.install.id]);
  });

  test('a file that replaces a link is not written through the link', async () => {
    const error = await forge('victim', 'a link', () => {
      here.put('victim', 'x');
      fs.symlinkSync(join(here.base, 'target'), join(here.site, 'a link'));
    });
    expect(error).toBeInstanceOf(Error);
    expect(fs.existsSync(join(here.base, 'target'))).toBe(false);
  });
});
