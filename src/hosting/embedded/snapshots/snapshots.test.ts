import { execFileSync } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PermanentHostError } from '../../contract/errors.ts';
import { exchangeFoldersOf, removeTree } from './archive-exchange.ts';
import {
  expectSameState,
  hashOf,
  hashOfLarge,
  makeSnapshotPlace,
  type SnapshotPlace,
  stateOf,
} from './snapshots.fixture.ts';

let here: SnapshotPlace;
beforeEach(() => {
  here = makeSnapshotPlace();
});
afterEach(() => removeTree(here.base));

test('a snapshot and a restore report the bytes that are done', async () => {
  here.put('large.bin', randomBytes(5 * 1024 * 1024));
  const seen: [done: number, total: number | null][] = [];
  const report = (done: number, total: number | null) => void seen.push([done, total]);
  const { bytes } = await here.snapshots.snapshot(here.install, here.backupId, undefined, report);
  const [, size] = seen.at(-1) ?? [];
  expect(size).toBeGreaterThanOrEqual(5 * 1024 * 1024);
  expect(seen.length).toBeGreaterThan(3);
  expect(seen.at(-1)).toEqual([size, size]);
  seen.length = 0;
  await here.snapshots.restore(here.install, here.backupId, { report });
  expect(seen.length).toBeGreaterThan(3);
  expect(seen.at(-1)).toEqual([bytes, bytes]);
});

describe('round trip', () => {
  test('every byte, name, mode, time and link comes back', async () => {
    here.put('index.html', '<h1>hello</h1>');
    here.put('empty.txt', '');
    here.put('wp-content/uploads/ünïcödé 文件 💾.txt', 'x');
    here.put('with\nnewline and = sign', 'y');
    here.put(`long/${'d'.repeat(120)}/${'e'.repeat(120)}/${'é'.repeat(100)}.txt`, 'deep');
    here.put(`${'n'.repeat(101)}/x`, 'a folder whose name fills the header');
    here.put('block', randomBytes(512));
    here.put('large.bin', randomBytes(3 * 1024 * 1024 + 17));
    here.put('exactly', randomBytes(256 * 1024));
    here.put('one more', randomBytes(256 * 1024 + 1));
    fs.writeFileSync(Buffer.concat([Buffer.from(`${here.site}/caf`), Buffer.of(0xe9, 0x0a)]), 'latin 1');
    fs.mkdirSync(Buffer.concat([Buffer.from(`${here.site}/dir`), Buffer.of(0xff)]));
    fs.writeFileSync(
      Buffer.concat([Buffer.from(`${here.site}/dir`), Buffer.of(0xff), Buffer.from('/in')]),
      'in',
    );
    fs.writeFileSync(join(here.site, 'caf%E9%0A'), 'a name like the stand-in');
    fs.mkdirSync(join(here.site, 'empty folder'));
    fs.symlinkSync('index.html', join(here.site, 'link'));
    fs.symlinkSync('/etc/passwd', join(here.site, 'absolute'));
    fs.symlinkSync('../'.repeat(60), join(here.site, 'far'));
    fs.symlinkSync('nowhere', join(here.site, 'dangling'));
    fs.symlinkSync(Buffer.of(0x61, 0xe9), join(here.site, 'link to latin 1'));
    fs.chmodSync(join(here.site, 'index.html'), 0o640);
    fs.chmodSync(join(here.site, 'empty.txt'), 0o4751);
    fs.utimesSync(join(here.site, 'index.html'), 1, 1_234_567_890.123456);
    fs.utimesSync(join(here.site, 'empty.txt'), 1, 5_000_000_000);
    fs.utimesSync(join(here.site, 'block'), 1, -100_000);
    fs.lutimesSync(join(here.site, 'link'), 1, 1_000_000_000);
    fs.chmodSync(join(here.site, 'empty folder'), 0o555);
    fs.utimesSync(join(here.site, 'empty folder'), 1, 1_111_111_111);
    fs.chmodSync(here.site, 0o750);
    const before = stateOf(here.site);

    const made = await here.snapshots.snapshot(here.install, here.backupId);
    expect(made.files).toBe(13);
    const contents = Object.values(before).map((entry) => Number(Object(entry).size ?? 0));
    expect(made.bytes).toBe(contents.reduce((sum, size) => sum + size, 0));
    expect(made.sha256).toBe(Object(here.manifestLines().at(-1)).manifest_sha256);
    expectSameState(stateOf(here.site), before);
    here.wreck();
    expect(await here.snapshots.restore(here.install, here.backupId)).toEqual(made);
    expectSameState(stateOf(here.site), before);
    expect(fs.readdirSync(join(here.base, 'sites'))).toEqual([here.install.id]);
    expect(fs.readdirSync(join(here.base, 'backups', here.install.id))).toHaveLength(2);
  });

  test('an empty website', async () => {
    const before = stateOf(here.site);
    const made = await here.snapshots.snapshot(here.install, here.backupId);
    expect(made.files).toBe(0);
    here.wreck();
    await here.snapshots.restore(here.install, here.backupId);
    expectSameState(stateOf(here.site), before);
  });

  test('a website whose folder is gone', async () => {
    here.put('a/b', 'c');
    const before = stateOf(here.site);
    await here.snapshots.snapshot(here.install, here.backupId);
    fs.rmSync(join(here.base, 'sites'), { recursive: true });
    await here.snapshots.restore(here.install, here.backupId);
    expectSameState(stateOf(here.site), before);
  });

  test('the manifest names the install and lists each entry', async () => {
    here.put('a.txt', 'abc');
    fs.chmodSync(join(here.site, 'a.txt'), 0o600);
    execFileSync('mkfifo', [join(here.site, 'pipe')]);
    await here.snapshots.snapshot(here.install, here.backupId);
    const [header, root, file, last, ...further] = here.manifestLines();
    expect(further).toEqual([]);
    expect(header).toMatchObject({
      install_id: here.install.id,
      install_name: 'shop',
      backup_id: here.backupId,
    });
    expect(root).toMatchObject({ type: 'directory', path: '.' });
    const chunk = `${hashOf(Buffer.from('abc'))}00000003`;
    const chunks = Buffer.from(chunk, 'hex').toString('base64');
    expect(file).toMatchObject({ path: 'a.txt', size: 3, mode: 0o600, chunks });
    expect(last).toMatchObject({ totals: { files: 1, directories: 1, symlinks: 0, skipped: 1 } });
  });

  test('is passed on as an archive that tar reads', async () => {
    here.put('wp-content/ünïcödé.txt', 'readable');
    here.put('big', randomBytes(3_000_000));
    fs.symlinkSync('big', join(here.site, 'link'));
    await here.snapshots.snapshot(here.install, here.backupId);
    const out = fs.mkdtempSync(join(here.base, 'out-'));
    execFileSync('tar', ['-xf', await unpacked(), '-C', out]);
    expectSameState(stateOf(out), withoutFractions(stateOf(here.site)));
    expect(fs.readFileSync(join(out, 'wp-content/ünïcödé.txt'), 'utf8')).toBe('readable');
    expect(hashOf(fs.readFileSync(join(out, 'big')))).toBe(hashOf(fs.readFileSync(join(here.site, 'big'))));
  });

  test('only the owner can read an archive', async () => {
    await here.snapshots.snapshot(here.install, here.backupId);
    here.put('a', 'secret');
    await here.snapshots.snapshot(here.install, randomUUID());
    const modeOf = (path: string) => fs.statSync(path).mode & 0o777;
    for (const file of [here.manifestPath(), ...here.packs()]) expect(modeOf(file)).toBe(0o600);
    expect(here.packs()).toHaveLength(2);
    for (const folder of [here.backups, join(here.backups, 'packs')]) expect(modeOf(folder)).toBe(0o700);
  });

  test('links are not followed, neither to read nor to list', async () => {
    fs.mkdirSync(join(here.base, 'secret'));
    fs.writeFileSync(join(here.base, 'secret', 'key'), 'secret');
    fs.symlinkSync(join(here.base, 'secret'), join(here.site, 'folder'));
    fs.symlinkSync(join(here.base, 'secret', 'key'), join(here.site, 'file'));
    expect((await here.snapshots.snapshot(here.install, here.backupId)).files).toBe(0);
    expect(here.manifestLines().filter((line) => Object(line).type === 'symlink')).toHaveLength(2);
  });

  test('thousands of files', async () => {
    for (let i = 0; i < 1000; i++) here.put(`d${i % 30}/${i}.txt`, `file ${i}`);
    const before = stateOf(here.site);
    expect((await here.snapshots.snapshot(here.install, here.backupId)).files).toBe(1000);
    here.wreck();
    await here.snapshots.restore(here.install, here.backupId);
    expectSameState(stateOf(here.site), before);
  });

  test('a file far larger than the memory used for it; holes stay holes', async () => {
    const size = 128 * 1024 * 1024;
    const file = fs.openSync(join(here.site, 'sparse'), 'w');
    fs.ftruncateSync(file, size);
    fs.writeSync(file, randomBytes(1024 * 1024), 0, 1024 * 1024, 20 * 1024 * 1024);
    fs.closeSync(file);
    const hash = hashOfLarge(join(here.site, 'sparse'));
    const rest = process.memoryUsage().rss;
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 5);
    await here.snapshots.snapshot(here.install, here.backupId);
    here.wreck();
    await here.snapshots.restore(here.install, here.backupId);
    clearInterval(watch);
    expect(peak - rest).toBeLessThan(size);
    expect(hashOfLarge(join(here.site, 'sparse'))).toBe(hash);
    expect(fs.statSync(join(here.site, 'sparse')).blocks * 512).toBeLessThan(size / 4);
  });
});

describe('sparse files', () => {
  const GB = 1024 ** 3;
  const size = 64 * GB;
  const parts: [number, number][] = [
    [0, 4096],
    [20 * GB, 1024 * 1024],
    [40 * GB + 8192, 300_000],
  ];

  /** Only the parts are on disk. */
  function putSparse(name: string, ends: boolean): void {
    const file = fs.openSync(join(here.site, name), 'w');
    fs.ftruncateSync(file, size);
    for (const [offset, length] of parts) fs.writeSync(file, randomBytes(length), 0, length, offset);
    if (ends) fs.writeSync(file, 'end', size - 3);
    fs.closeSync(file);
  }

  function partsOf(name: string): Buffer[] {
    const file = fs.openSync(join(here.site, name), 'r');
    const contents = [...parts, [size - 4096, 4096] as const].map(([offset, length]) => {
      // With the surroundings of the part, to show its position.
      const buffer = Buffer.alloc(length + 8192);
      fs.readSync(file, buffer, 0, buffer.length, Math.max(0, offset - 4096));
      return buffer;
    });
    fs.closeSync(file);
    return contents;
  }

  test('of 64 GiB are archived without their holes, come back equal, and sparse', async () => {
    putSparse('ends with a hole', false);
    putSparse('ends with data', true);
    fs.writeFileSync(join(here.site, 'hole'), '');
    fs.truncateSync(join(here.site, 'hole'), size);
    const names = ['ends with a hole', 'ends with data'];
    const before = names.map(partsOf);
    const { files, bytes } = await here.snapshots.snapshot(here.install, here.backupId);
    expect(files).toBe(3);
    expect(bytes).toBeLessThan(4 * 1024 * 1024);
    here.wreck();
    await here.snapshots.restore(here.install, here.backupId);
    expect(names.map(partsOf)).toEqual(before);
    for (const name of [...names, 'hole']) {
      const stats = fs.statSync(join(here.site, name));
      expect(stats.size).toBe(size);
      expect(stats.blocks * 512).toBeLessThan(2 * 1024 * 1024);
    }
  });

  test('are unpacked by GNU tar too', async () => {
    putSparse('file', true);
    const before = partsOf('file');
    await here.snapshots.snapshot(here.install, here.backupId);
    here.wreck();
    execFileSync('tar', ['-xf', await unpacked(), '-C', here.site]);
    expect(partsOf('file')).toEqual(before);
    expect(fs.readdirSync(here.site).sort()).toEqual(['file', 'index.html', 'shell.php']);
  });
});

test('a website that exceeds its limits is not backed up, and the reason says what to do', async () => {
  const { base } = here;
  here = makeSnapshotPlace({ limits: { bytes: 1024 ** 3, files: 100 } });
  await removeTree(base);
  const backUp = () => here.snapshots.snapshot(here.install, here.backupId);
  fs.writeFileSync(join(here.site, 'sparse'), '');
  fs.truncateSync(join(here.site, 'sparse'), 2 * 1024 ** 3);
  await expect(backUp()).rejects.toThrow(
    new PermanentHostError(
      'Disk quota exceeded: the files of an install may have 1 GB in all, holes in sparse files included. Delete files, then request the backup again.',
    ),
  );
  fs.rmSync(join(here.site, 'sparse'));
  for (let n = 0; n < 101; n++) here.put(`${n}`, '');
  await expect(backUp()).rejects.toThrow(/an install may have 100 files and folders/);
  fs.rmSync(join(here.site, '0'));
  expect((await backUp()).files).toBe(100);
});

/** The snapshot as an uncompressed archive. */
async function unpacked(): Promise<string> {
  const file = join(here.base, 'unpacked.tar');
  await here.snapshots.unpack(here.install, here.backupId, async (bytes) => fs.appendFileSync(file, bytes));
  return file;
}

/** Times as a tar archive has them. */
function withoutFractions(state: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(state).map(([name, entry]) => {
      return [name, { ...Object(entry), mtime: Math.floor(Object(entry).mtime / 1e6) * 1e6 }];
    }),
  );
}

describe('repeating and ending', () => {
  test('a second run finds the snapshot and leaves it as it is', async () => {
    here.put('a', 'first');
    const first = await here.snapshots.snapshot(here.install, here.backupId);
    here.put('a', 'second');
    expect(await here.snapshots.snapshot(here.install, here.backupId)).toEqual(first);
  });

  test('a second run replaces a damaged or incomplete snapshot', async () => {
    here.put('a', 'first');
    await here.snapshots.snapshot(here.install, here.backupId);
    fs.truncateSync(here.packs()[0] ?? '', 20);
    const halfMade = join(here.backups, `.${here.backupId}.abcdef`);
    fs.mkdirSync(halfMade);
    fs.writeFileSync(join(halfMade, `${here.backupId}.backup.jsonl`), 'half');
    here.put('a', 'second');
    await here.snapshots.snapshot(here.install, here.backupId);
    expect(fs.readdirSync(here.backups).sort()).toEqual([`${here.backupId}.backup.jsonl`, 'packs']);
    here.wreck();
    await here.snapshots.restore(here.install, here.backupId);
    expect(fs.readFileSync(join(here.site, 'a'), 'utf8')).toBe('second');
  });

  test('packs alone, as left by a crash before the rename of the manifest, are not a snapshot', async () => {
    here.put('a', 'x');
    await here.snapshots.snapshot(here.install, here.backupId);
    fs.rmSync(here.manifestPath());
    await expect(here.snapshots.restore(here.install, here.backupId)).rejects.toThrow(/There is no snapshot/);
    await here.snapshots.snapshot(here.install, here.backupId);
    await here.snapshots.restore(here.install, here.backupId);
  });

  test('discarding removes one snapshot, and succeeds if it is missing', async () => {
    const other = randomUUID();
    await here.snapshots.snapshot(here.install, here.backupId);
    await here.snapshots.snapshot(here.install, other);
    await here.snapshots.discard(here.install, here.backupId);
    await here.snapshots.discard(here.install, here.backupId);
    await here.snapshots.discard({ id: randomUUID(), name: 'none' }, here.backupId);
    expect(fs.existsSync(here.manifestPath())).toBe(false);
    await here.snapshots.restore(here.install, other);
    await expect(here.snapshots.restore(here.install, here.backupId)).rejects.toThrow(PermanentHostError);
  });

  test('discarding again gives back the space that an interrupted run has left', async () => {
    here.put('a', 'x');
    await here.snapshots.snapshot(here.install, here.backupId);
    fs.rmSync(here.manifestPath());
    expect(here.packs().length).toBe(1);
    await here.snapshots.discard(here.install, here.backupId);
    expect(fs.readdirSync(here.backups)).toEqual([]);
  });

  test('a copy of a snapshot that is deleted meanwhile fails with that reason', async () => {
    here.put('a', randomBytes(6 * 1024 * 1024));
    await here.snapshots.snapshot(here.install, randomUUID());
    // In another pack, which is not open yet when the first bytes are there. The list of entries is in the third.
    here.put('b', 'x');
    await here.snapshots.snapshot(here.install, randomUUID());
    here.put('c', 'x');
    await here.snapshots.snapshot(here.install, here.backupId);
    const other = { id: randomUUID(), name: 'copy' };
    const restoring = here.snapshots.restore(other, here.backupId, {
      from: here.install,
      report: () => fs.rmSync(here.backups, { recursive: true, force: true }),
    });
    await expect(restoring).rejects.toMatchObject({
      message: expect.stringMatching(/of shop was deleted while it was read\. The website's files were not/),
      shown: 'The backup that was to be copied was deleted meanwhile.',
    });
  });

  test('a download that has ended before it began reads nothing', async () => {
    here.put('a', 'x'.repeat(100));
    await here.snapshots.snapshot(here.install, here.backupId);
    fs.writeFileSync(here.packs()[0] ?? '', fs.readFileSync(here.packs()[0] ?? '').fill(0, 0, 5));
    const ended = AbortSignal.abort(new Error('enough'));
    await expect(here.snapshots.unpack(here.install, here.backupId, async () => {}, ended)).rejects.toThrow(
      'enough',
    );
    // Reading would have marked it.
    expect(fs.readdirSync(join(here.backups, 'packs')).length).toBe(1);
  });

  test('is restored into another install, which keeps its own snapshots and names', async () => {
    here.put('page.html', 'as backed up');
    const made = await here.snapshots.snapshot(here.install, here.backupId);
    const other = { id: randomUUID(), name: 'copy' };
    fs.mkdirSync(join(here.base, 'sites', other.id));
    fs.writeFileSync(join(here.base, 'sites', other.id, 'own.html'), 'own');
    await expect(here.snapshots.restore(other, here.backupId)).rejects.toThrow(/no snapshot .* of copy/);
    await expect(here.snapshots.restore(other, randomUUID(), { from: here.install })).rejects.toThrow(
      /of shop/,
    );
    expect(fs.readdirSync(join(here.base, 'sites', other.id))).toEqual(['own.html']);
    expect(await here.snapshots.restore(other, here.backupId, { from: here.install })).toEqual(made);
    expect(fs.readdirSync(join(here.base, 'sites', other.id))).toEqual(['page.html']);
    expect(fs.existsSync(join(here.base, 'backups', other.id))).toBe(false);
    await here.snapshots.restore(here.install, here.backupId);
    expect(fs.readFileSync(join(here.site, 'page.html'), 'utf8')).toBe('as backed up');
  });

  test('removing all leaves nothing of the install and does not affect others', async () => {
    const neighbour = { id: randomUUID(), name: 'neighbour' };
    fs.mkdirSync(join(here.base, 'sites', neighbour.id));
    await here.snapshots.snapshot(here.install, here.backupId);
    await here.snapshots.snapshot(neighbour, here.backupId);
    fs.mkdirSync(exchangeFoldersOf(here.site).next);
    await here.snapshots.removeAll(here.install.id);
    await here.snapshots.removeAll(here.install.id);
    expect(fs.readdirSync(join(here.base, 'backups'))).toEqual([neighbour.id]);
    expect(fs.existsSync(exchangeFoldersOf(here.site).next)).toBe(false);
  });

  test('an install without files, and invalid ids', async () => {
    const none = { id: randomUUID(), name: 'none' };
    await expect(here.snapshots.snapshot(none, here.backupId)).rejects.toThrow(
      'The install none has no files on this host.',
    );
    await expect(here.snapshots.snapshot(here.install, '../../x')).rejects.toThrow(PermanentHostError);
    await expect(here.snapshots.removeAll('..')).rejects.toThrow(PermanentHostError);
  });

  test('a signal aborts a snapshot and a restore at once, and leaves nothing of either', async () => {
    here.put('a', 'kept');
    here.put('large', randomBytes(48 * 1024 * 1024));
    const early = new AbortController();
    const making = here.snapshots.snapshot(here.install, here.backupId, early.signal);
    await here.untilWriting();
    early.abort(new Error('enough'));
    await expect(making).rejects.toThrow();
    expect(fs.readdirSync(join(here.base, 'backups', here.install.id))).toEqual([]);

    await here.snapshots.snapshot(here.install, here.backupId);
    here.put('a', 'new');
    const late = new AbortController();
    const restoring = here.snapshots.restore(here.install, here.backupId, { signal: late.signal });
    // The restored folder is built beside the existing one.
    while (fs.readdirSync(join(here.base, 'sites')).length === 1) await sleep(1);
    late.abort(new Error('enough'));
    await expect(restoring).rejects.toThrow('enough');
    expect(fs.readdirSync(join(here.base, 'sites'))).toEqual([here.install.id]);
    expect(fs.readFileSync(join(here.site, 'a'), 'utf8')).toBe('new');
  });
});
