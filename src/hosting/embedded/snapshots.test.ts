import { execFileSync } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Value } from 'typebox/value';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../clock.ts';
import { type InstallRef, PermanentHostError } from '../host.ts';
import { exchangeFoldersOf, removeTree } from './archive-exchange.ts';
import { createManifestWriter, ManifestEntry } from './archive-manifest.ts';
import { writeArchive } from './archive-write.ts';
import { openFilesIn } from './open-files.fixture.ts';
import { createSnapshots, type Snapshots } from './snapshots.ts';

let base: string;
let install: InstallRef;
let backupId: string;
let site: string;
let snapshots: Snapshots;

beforeEach(() => {
  base = fs.mkdtempSync(join(tmpdir(), 'snapshots-'));
  install = { id: randomUUID(), name: 'shop' };
  backupId = randomUUID();
  site = join(base, 'sites', install.id);
  fs.mkdirSync(site, { recursive: true });
  snapshots = createSnapshots({
    folder: join(base, 'backups'),
    filesOf: (id) => join(base, 'sites', id),
    clock: systemClock,
  });
});

afterEach(() => removeTree(base));

function put(path: string, content: string | Buffer): void {
  fs.mkdirSync(dirname(join(site, path)), { recursive: true });
  fs.writeFileSync(join(site, path), content);
}

function archivePath(suffix: 'tar.zst' | 'manifest.jsonl' = 'tar.zst', id = backupId): string {
  return join(base, 'backups', install.id, `${id}.${suffix}`);
}

function manifestLines(): unknown[] {
  return fs
    .readFileSync(archivePath('manifest.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** All there is in a folder, each with what a restore must bring back. Times to the microsecond. */
function stateOf(folder: string): Record<string, unknown> {
  const state: Record<string, unknown> = {};
  const visit = (path: Buffer, name: string) => {
    const stats = fs.lstatSync(path, { bigint: true });
    const common = { mode: (stats.mode & 0o7777n).toString(8), mtime: Number(stats.mtimeNs / 1000n) };
    if (stats.isSymbolicLink()) state[name] = { ...common, link: fs.readlinkSync(path, 'latin1') };
    else if (stats.isFile())
      state[name] = { ...common, size: stats.size, sha256: hashOf(fs.readFileSync(path)) };
    else if (stats.isDirectory()) {
      state[name] = common;
      for (const child of fs.readdirSync(path, { encoding: 'buffer' })) {
        visit(Buffer.concat([path, Buffer.from('/'), child]), `${name}/${child.toString('latin1')}`);
      }
    }
  };
  visit(Buffer.from(folder), '');
  return state;
}

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function hashOfLarge(path: string): string {
  const hash = createHash('sha256');
  const buffer = Buffer.alloc(1024 * 1024);
  const file = fs.openSync(path, 'r');
  for (let bytes = fs.readSync(file, buffer); bytes > 0; bytes = fs.readSync(file, buffer)) {
    hash.update(buffer.subarray(0, bytes));
  }
  fs.closeSync(file);
  return hash.digest('hex');
}

/** The states are equal, times to two microseconds: Node passes times on as doubles. */
function expectSameState(actual: Record<string, unknown>, expected: Record<string, unknown>): void {
  const timeless = (state: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(state).map(([name, entry]) => [name, { ...Object(entry), mtime: 0 }]));
  expect(timeless(actual)).toEqual(timeless(expected));
  for (const name of Object.keys(expected)) {
    const difference = Math.abs(Object(actual[name]).mtime - Object(expected[name]).mtime);
    expect(difference, name).toBeLessThanOrEqual(2);
  }
}

function wreck(): void {
  fs.rmSync(site, { recursive: true });
  fs.mkdirSync(site);
  put('index.html', 'defaced');
  put('shell.php', 'evil');
}

describe('round trip', () => {
  test('every byte, name, mode, time and link comes back', async () => {
    put('index.html', '<h1>hello</h1>');
    put('empty.txt', '');
    put('wp-content/uploads/ünïcödé 文件 💾.txt', 'x');
    put('with\nnewline and = sign', 'y');
    put(`long/${'d'.repeat(120)}/${'e'.repeat(120)}/${'é'.repeat(100)}.txt`, 'deep');
    put(`${'n'.repeat(101)}/x`, 'a folder whose name fills the header');
    put('block', randomBytes(512));
    put('large.bin', randomBytes(3 * 1024 * 1024 + 17));
    put('exactly', randomBytes(256 * 1024));
    put('one more', randomBytes(256 * 1024 + 1));
    fs.writeFileSync(Buffer.concat([Buffer.from(`${site}/caf`), Buffer.of(0xe9, 0x0a)]), 'latin 1');
    fs.mkdirSync(Buffer.concat([Buffer.from(`${site}/dir`), Buffer.of(0xff)]));
    fs.writeFileSync(Buffer.concat([Buffer.from(`${site}/dir`), Buffer.of(0xff), Buffer.from('/in')]), 'in');
    fs.writeFileSync(join(site, 'caf%E9%0A'), 'a name like the stand-in');
    fs.mkdirSync(join(site, 'empty folder'));
    fs.symlinkSync('index.html', join(site, 'link'));
    fs.symlinkSync('/etc/passwd', join(site, 'absolute'));
    fs.symlinkSync('../'.repeat(60), join(site, 'far'));
    fs.symlinkSync('nowhere', join(site, 'dangling'));
    fs.symlinkSync(Buffer.of(0x61, 0xe9), join(site, 'link to latin 1'));
    fs.chmodSync(join(site, 'index.html'), 0o640);
    fs.chmodSync(join(site, 'empty.txt'), 0o4751);
    fs.utimesSync(join(site, 'index.html'), 1, 1_234_567_890.123456);
    fs.utimesSync(join(site, 'empty.txt'), 1, 5_000_000_000);
    fs.utimesSync(join(site, 'block'), 1, -100_000);
    fs.lutimesSync(join(site, 'link'), 1, 1_000_000_000);
    fs.chmodSync(join(site, 'empty folder'), 0o555);
    fs.utimesSync(join(site, 'empty folder'), 1, 1_111_111_111);
    fs.chmodSync(site, 0o750);
    const before = stateOf(site);

    const made = await snapshots.snapshot(install, backupId);
    expect(made.files).toBe(13);
    expect(made.bytes).toBe(fs.statSync(archivePath()).size);
    expect(made.sha256).toBe(hashOf(fs.readFileSync(archivePath())));
    expectSameState(stateOf(site), before);
    wreck();
    expect(await snapshots.restore(install, backupId)).toEqual(made);
    expectSameState(stateOf(site), before);
    expect(fs.readdirSync(join(base, 'sites'))).toEqual([install.id]);
    expect(fs.readdirSync(join(base, 'backups', install.id))).toHaveLength(2);
  });

  test('an empty website', async () => {
    const before = stateOf(site);
    const made = await snapshots.snapshot(install, backupId);
    expect(made.files).toBe(0);
    wreck();
    await snapshots.restore(install, backupId);
    expectSameState(stateOf(site), before);
  });

  test('a website whose folder is gone', async () => {
    put('a/b', 'c');
    const before = stateOf(site);
    await snapshots.snapshot(install, backupId);
    fs.rmSync(join(base, 'sites'), { recursive: true });
    await snapshots.restore(install, backupId);
    expectSameState(stateOf(site), before);
  });

  test('the manifest names the install and lists each entry', async () => {
    put('a.txt', 'abc');
    fs.chmodSync(join(site, 'a.txt'), 0o600);
    execFileSync('mkfifo', [join(site, 'pipe')]);
    await snapshots.snapshot(install, backupId);
    const [header, root, file, last, ...further] = manifestLines();
    expect(further).toEqual([]);
    expect(header).toMatchObject({ install_id: install.id, install_name: 'shop', backup_id: backupId });
    expect(root).toMatchObject({ type: 'directory', path: '.' });
    expect(file).toMatchObject({ path: 'a.txt', size: 3, mode: 0o600, sha256: hashOf(Buffer.from('abc')) });
    expect(last).toMatchObject({ totals: { files: 1, directories: 1, symlinks: 0, skipped: 1 } });
  });

  test.skipIf(!hasTarWithZstd())('the archive is one that tar reads', async () => {
    put('wp-content/ünïcödé.txt', 'readable');
    put('big', randomBytes(1_000_000));
    await snapshots.snapshot(install, backupId);
    const out = fs.mkdtempSync(join(base, 'out-'));
    execFileSync('tar', ['--zstd', '-xf', archivePath(), '-C', out]);
    expect(fs.readFileSync(join(out, 'wp-content/ünïcödé.txt'), 'utf8')).toBe('readable');
    expect(hashOf(fs.readFileSync(join(out, 'big')))).toBe(hashOf(fs.readFileSync(join(site, 'big'))));
  });

  test('nothing but the owner may read an archive', async () => {
    await snapshots.snapshot(install, backupId);
    expect(fs.statSync(archivePath()).mode & 0o777).toBe(0o600);
    expect(fs.statSync(archivePath('manifest.jsonl')).mode & 0o777).toBe(0o600);
    expect(fs.statSync(dirname(archivePath())).mode & 0o777).toBe(0o700);
  });

  test('links are not followed, neither to read nor to list', async () => {
    fs.mkdirSync(join(base, 'secret'));
    fs.writeFileSync(join(base, 'secret', 'key'), 'secret');
    fs.symlinkSync(join(base, 'secret'), join(site, 'folder'));
    fs.symlinkSync(join(base, 'secret', 'key'), join(site, 'file'));
    expect((await snapshots.snapshot(install, backupId)).files).toBe(0);
    expect(manifestLines().filter((line) => Object(line).type === 'symlink')).toHaveLength(2);
  });

  test('thousands of files', async () => {
    for (let i = 0; i < 1000; i++) put(`d${i % 30}/${i}.txt`, `file ${i}`);
    const before = stateOf(site);
    expect((await snapshots.snapshot(install, backupId)).files).toBe(1000);
    wreck();
    await snapshots.restore(install, backupId);
    expectSameState(stateOf(site), before);
  });

  test('a file far larger than the memory that is used for it; holes stay holes', async () => {
    const size = 128 * 1024 * 1024;
    const file = fs.openSync(join(site, 'sparse'), 'w');
    fs.ftruncateSync(file, size);
    fs.writeSync(file, randomBytes(1024 * 1024), 0, 1024 * 1024, 20 * 1024 * 1024);
    fs.closeSync(file);
    const hash = hashOfLarge(join(site, 'sparse'));
    const rest = process.memoryUsage().rss;
    let peak = 0;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().rss);
    }, 5);
    await snapshots.snapshot(install, backupId);
    wreck();
    await snapshots.restore(install, backupId);
    clearInterval(watch);
    expect(peak - rest).toBeLessThan(size);
    expect(hashOfLarge(join(site, 'sparse'))).toBe(hash);
    expect(fs.statSync(join(site, 'sparse')).blocks * 512).toBeLessThan(size / 4);
  });
});

function hasTarWithZstd(): boolean {
  try {
    execFileSync('tar', ['--zstd', '-cf', '/dev/null', '/dev/null'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Waits until so much of the archive is written. */
async function untilWriting(bytes: number): Promise<void> {
  for (;;) {
    await sleep(1);
    const folder = join(base, 'backups', install.id);
    const workshop = fs.existsSync(folder)
      ? fs.readdirSync(folder).find((name) => name.startsWith('.'))
      : undefined;
    if (workshop === undefined) continue;
    const archive = join(folder, workshop, `${backupId}.tar.zst`);
    if (fs.existsSync(archive) && fs.statSync(archive).size >= bytes) return;
  }
}

describe('files that change', () => {
  test('one that changes once while it is read is read again', async () => {
    const large = randomBytes(20 * 1024 * 1024);
    put('large', large);
    const running = snapshots.snapshot(install, backupId);
    await untilWriting(1024 * 1024);
    const file = fs.openSync(join(site, 'large'), 'r+');
    fs.writeSync(file, Buffer.alloc(100, 1), 0, 100, 0);
    fs.writeSync(file, Buffer.alloc(100, 2), 0, 100, large.length - 100);
    fs.closeSync(file);
    const whole = fs.readFileSync(join(site, 'large'));
    expect((await running).files).toBe(1);
    expect(manifestLines().filter((line) => Object(line).superseded)).toHaveLength(1);
    wreck();
    await snapshots.restore(install, backupId);
    expect(hashOf(fs.readFileSync(join(site, 'large')))).toBe(hashOf(whole));
  });

  test('one that never holds still ends the snapshot with its name, and nothing is left', async () => {
    put('busy.log', randomBytes(4 * 1024 * 1024));
    const file = fs.openSync(join(site, 'busy.log'), 'r+');
    let at = 0;
    const writing = setInterval(() => {
      at = (at + 4096) % (4 * 1024 * 1024);
      fs.writeSync(file, randomBytes(64), 0, 64, at);
    }, 0);
    const error = await snapshots.snapshot(install, backupId).catch((e: unknown) => e);
    clearInterval(writing);
    fs.closeSync(file);
    expect(error).toMatchObject({ message: 'The file "busy.log" kept changing while it was read.' });
    expect(error).not.toBeInstanceOf(PermanentHostError);
    expect(fs.readdirSync(join(base, 'backups', install.id))).toEqual([]);
  });

  test('one that only grows is taken up to its length at first', async () => {
    const first = randomBytes(4 * 1024 * 1024);
    put('debug.log', first);
    const writing = setInterval(() => fs.appendFileSync(join(site, 'debug.log'), 'one more line\n'), 0);
    await snapshots.snapshot(install, backupId).finally(() => clearInterval(writing));
    wreck();
    await snapshots.restore(install, backupId);
    const restored = fs.readFileSync(join(site, 'debug.log'));
    expect(restored.subarray(0, first.length).equals(first)).toBe(true);
    expect(restored.subarray(first.length).toString()).toMatch(/^(one more line\n)*$/);
  });

  test('files and folders that come and go do no harm', async () => {
    for (let i = 0; i < 300; i++) put(`stay/${i}`, `stays ${i}`);
    let round = 0;
    const writing = setInterval(() => {
      round += 1;
      put(`going/${round % 50}/a`, 'x'.repeat(round));
      fs.rmSync(join(site, 'going', String((round + 20) % 50)), { recursive: true, force: true });
      fs.rmSync(join(site, 'going', String((round + 30) % 50), 'a'), { force: true });
    }, 0);
    await snapshots.snapshot(install, backupId).finally(() => clearInterval(writing));
    wreck();
    await snapshots.restore(install, backupId);
    expect(fs.readdirSync(join(site, 'stay'))).toHaveLength(300);
  });

  test('a file that may not be read is named', { skip: process.getuid?.() === 0 }, async () => {
    put('secret', 'x');
    fs.chmodSync(join(site, 'secret'), 0);
    await expect(snapshots.snapshot(install, backupId)).rejects.toThrow(/^"secret" cannot be read\. Give/);
  });
});

describe('repeating and ending', () => {
  test('a second run finds the snapshot and leaves it as it is', async () => {
    put('a', 'first');
    const first = await snapshots.snapshot(install, backupId);
    put('a', 'second');
    expect(await snapshots.snapshot(install, backupId)).toEqual(first);
  });

  test('a second run replaces one that is damaged or half made', async () => {
    put('a', 'first');
    await snapshots.snapshot(install, backupId);
    fs.truncateSync(archivePath(), 20);
    const halfMade = join(base, 'backups', install.id, `.${backupId}.abcdef`);
    fs.mkdirSync(halfMade);
    fs.writeFileSync(join(halfMade, `${backupId}.tar.zst`), 'half');
    put('a', 'second');
    await snapshots.snapshot(install, backupId);
    expect(fs.readdirSync(join(base, 'backups', install.id)).sort()).toEqual([
      `${backupId}.manifest.jsonl`,
      `${backupId}.tar.zst`,
    ]);
    wreck();
    await snapshots.restore(install, backupId);
    expect(fs.readFileSync(join(site, 'a'), 'utf8')).toBe('second');
  });

  test('a manifest alone, as a crash between the two renames leaves it, is no snapshot', async () => {
    put('a', 'x');
    await snapshots.snapshot(install, backupId);
    fs.rmSync(archivePath());
    await expect(snapshots.restore(install, backupId)).rejects.toThrow(/There is no snapshot/);
    await snapshots.snapshot(install, backupId);
    await snapshots.restore(install, backupId);
  });

  test('discarding takes one snapshot away, and is content if there is none', async () => {
    const other = randomUUID();
    await snapshots.snapshot(install, backupId);
    await snapshots.snapshot(install, other);
    await snapshots.discard(install, backupId);
    await snapshots.discard(install, backupId);
    await snapshots.discard({ id: randomUUID(), name: 'none' }, backupId);
    expect(fs.existsSync(archivePath())).toBe(false);
    expect(fs.existsSync(archivePath('manifest.jsonl'))).toBe(false);
    await snapshots.restore(install, other);
    await expect(snapshots.restore(install, backupId)).rejects.toThrow(PermanentHostError);
  });

  test('is put into another install, whose own snapshots and names stay what they are', async () => {
    put('page.html', 'as backed up');
    const made = await snapshots.snapshot(install, backupId);
    const other = { id: randomUUID(), name: 'copy' };
    fs.mkdirSync(join(base, 'sites', other.id));
    fs.writeFileSync(join(base, 'sites', other.id, 'own.html'), 'own');
    await expect(snapshots.restore(other, backupId)).rejects.toThrow(/no snapshot .* of copy/);
    await expect(snapshots.restore(other, randomUUID(), { from: install })).rejects.toThrow(/of shop/);
    expect(fs.readdirSync(join(base, 'sites', other.id))).toEqual(['own.html']);
    expect(await snapshots.restore(other, backupId, { from: install })).toEqual(made);
    expect(fs.readdirSync(join(base, 'sites', other.id))).toEqual(['page.html']);
    expect(fs.existsSync(join(base, 'backups', other.id))).toBe(false);
    await snapshots.restore(install, backupId);
    expect(fs.readFileSync(join(site, 'page.html'), 'utf8')).toBe('as backed up');
  });

  test('removing all leaves nothing of the install, and others alone', async () => {
    const neighbour = { id: randomUUID(), name: 'neighbour' };
    fs.mkdirSync(join(base, 'sites', neighbour.id));
    await snapshots.snapshot(install, backupId);
    await snapshots.snapshot(neighbour, backupId);
    fs.mkdirSync(exchangeFoldersOf(site).next);
    await snapshots.removeAll(install.id);
    await snapshots.removeAll(install.id);
    expect(fs.readdirSync(join(base, 'backups'))).toEqual([neighbour.id]);
    expect(fs.existsSync(exchangeFoldersOf(site).next)).toBe(false);
  });

  test('an install without files, and ids that are none', async () => {
    const none = { id: randomUUID(), name: 'none' };
    await expect(snapshots.snapshot(none, backupId)).rejects.toThrow(
      'The install none has no files on this host.',
    );
    await expect(snapshots.snapshot(install, '../../x')).rejects.toThrow(PermanentHostError);
    await expect(snapshots.removeAll('..')).rejects.toThrow(PermanentHostError);
  });

  test('a signal ends a snapshot and a restore at once, and nothing is left of either', async () => {
    put('a', 'kept');
    put('large', randomBytes(20 * 1024 * 1024));
    const early = new AbortController();
    const making = snapshots.snapshot(install, backupId, early.signal);
    await untilWriting(1024 * 1024);
    early.abort(new Error('enough'));
    await expect(making).rejects.toThrow();
    expect(fs.readdirSync(join(base, 'backups', install.id))).toEqual([]);

    await snapshots.snapshot(install, backupId);
    put('a', 'new');
    const late = new AbortController();
    const restoring = snapshots.restore(install, backupId, { signal: late.signal });
    // What is restored comes beside what is there.
    while (fs.readdirSync(join(base, 'sites')).length === 1) await sleep(1);
    late.abort(new Error('enough'));
    await expect(restoring).rejects.toThrow('enough');
    expect(fs.readdirSync(join(base, 'sites'))).toEqual([install.id]);
    expect(fs.readFileSync(join(site, 'a'), 'utf8')).toBe('new');
  });
});

describe('damage', () => {
  /** Restoring must fail with a clear sentence and leave the website as it is. */
  async function expectRefusal(): Promise<string> {
    const before = stateOf(site);
    const error = await snapshots.restore(install, backupId).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(PermanentHostError);
    expect(stateOf(site)).toEqual(before);
    expect(fs.readdirSync(join(base, 'sites'))).toEqual([install.id]);
    const message = error instanceof Error ? error.message : '';
    expect(message).toMatch(
      /^The snapshot \S+ of shop is damaged: .+\. The website's files were not touched\.$/,
    );
    return message;
  }

  beforeEach(async () => {
    for (let i = 0; i < 20; i++) put(`f${i}`, randomBytes(1000 * i));
    put('text', 'lorem ipsum '.repeat(10_000));
    await snapshots.snapshot(install, backupId);
    wreck();
  });

  test('any flipped byte of the archive; no file stays open', async () => {
    const whole = fs.readFileSync(archivePath());
    fs.truncateSync(archivePath(), 100);
    await expectRefusal();
    for (let i = 0; i < 40; i++) {
      const bytes = Buffer.from(whole);
      const at = Math.floor((bytes.length * i) / 40);
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      fs.writeFileSync(archivePath(), bytes);
      await expectRefusal();
    }
    expect(openFilesIn(base)).toEqual([]);
    fs.writeFileSync(archivePath(), whole);
    await snapshots.restore(install, backupId);
  });

  test('an archive that was cut or extended anywhere', async () => {
    const whole = fs.readFileSync(archivePath());
    for (const length of [0, 1, 10, 1000, whole.length >> 1, whole.length - 1]) {
      fs.writeFileSync(archivePath(), whole.subarray(0, length));
      await expectRefusal();
    }
    fs.writeFileSync(archivePath(), Buffer.concat([whole, Buffer.of(0)]));
    await expectRefusal();
    fs.writeFileSync(archivePath(), Buffer.concat([whole, whole]));
    await expectRefusal();
  });

  test('a manifest that was changed, cut, emptied, removed or taken from another snapshot', async () => {
    const path = archivePath('manifest.jsonl');
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
    await snapshots.snapshot(install, other);
    fs.copyFileSync(archivePath('manifest.jsonl', other), path);
    fs.copyFileSync(archivePath('tar.zst', other), archivePath());
    expect(await expectRefusal()).toContain('that of another snapshot');
  });
});

describe('entries that would leave the folder', () => {
  /** An archive of a harmless folder whose manifest and archive are both made to say something else. */
  async function forge(from: string, to: string, make: () => void): Promise<unknown> {
    make();
    fs.mkdirSync(dirname(archivePath()), { recursive: true });
    const header = {
      format: 'homeport-snapshot' as const,
      version: 1 as const,
      install_id: install.id,
      install_name: install.name,
      backup_id: backupId,
      created_at: '',
    };
    const files = { archive: archivePath(), manifest: archivePath('manifest.jsonl') };
    const totals = await writeArchive(site, files, header, systemClock);
    const entries = manifestLines()
      .slice(1, -1)
      .map((line) => Value.Parse(ManifestEntry, line));
    fs.rmSync(files.manifest);
    const writer = await createManifestWriter(files.manifest, header);
    for (const entry of entries) {
      // The archive keeps the harmless name; the manifest, from which names of bytes are taken, the bad one.
      const isForged = entry.path === from;
      await writer.add(isForged ? { ...entry, path_base64: Buffer.from(to).toString('base64') } : entry);
    }
    await writer.finish(totals);
    await writer.close();
    return snapshots.restore(install, backupId).catch((e: unknown) => e);
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
      put('victim', 'x');
      put('file', 'x');
      put('folder/x', 'x');
      fs.symlinkSync(base, join(site, 'link'));
    });
    expect(error).toBeInstanceOf(PermanentHostError);
    expect(String(error)).toMatch(/would lie outside the folder/);
    expect(fs.existsSync(join(base, 'sites', 'escaped'))).toBe(false);
    expect(fs.readdirSync(join(base, 'sites'))).toEqual([install.id]);
  });

  test('a file in the place of a link is not written through it', async () => {
    const error = await forge('victim', 'a link', () => {
      put('victim', 'x');
      fs.symlinkSync(join(base, 'target'), join(site, 'a link'));
    });
    expect(error).toBeInstanceOf(Error);
    expect(fs.existsSync(join(base, 'target'))).toBe(false);
  });
});

describe('a restore that was killed', () => {
  beforeEach(async () => {
    put('a', 'from the snapshot');
    await snapshots.snapshot(install, backupId);
    put('a', 'present');
  });

  function contentOf(folder = site): string {
    return fs.readFileSync(join(folder, 'a'), 'utf8');
  }

  test('while the new folder was filled', async () => {
    const { next } = exchangeFoldersOf(site);
    fs.mkdirSync(next);
    fs.writeFileSync(join(next, 'a'), 'half');
    await snapshots.recover(install.id);
    expect(contentOf()).toBe('present');
    expect(fs.existsSync(next)).toBe(false);
  });

  test('between the renames: the old folder is back, and restoring again works', async () => {
    const { next, old } = exchangeFoldersOf(site);
    fs.renameSync(site, old);
    fs.cpSync(old, next, { recursive: true });
    await snapshots.recover(install.id);
    expect(contentOf()).toBe('present');
    expect(fs.readdirSync(join(base, 'sites'))).toEqual([install.id]);
    fs.renameSync(site, old);
    await snapshots.restore(install, backupId);
    expect(contentOf()).toBe('from the snapshot');
    expect(fs.readdirSync(join(base, 'sites'))).toEqual([install.id]);
  });

  test('before the old folder was removed', async () => {
    const { old } = exchangeFoldersOf(site);
    fs.cpSync(site, old, { recursive: true });
    fs.chmodSync(old, 0o555);
    fs.writeFileSync(join(site, 'a'), 'from the snapshot');
    await snapshots.recover(install.id);
    expect(contentOf()).toBe('from the snapshot');
    expect(fs.existsSync(old)).toBe(false);
  });

  test('between the renames, and somebody made the folder anew: both are kept', async () => {
    const { next, old, stray } = exchangeFoldersOf(site);
    fs.renameSync(site, old);
    fs.cpSync(old, next, { recursive: true });
    fs.mkdirSync(site);
    fs.writeFileSync(join(site, 'a'), 'starter page');
    await snapshots.recover(install.id);
    expect(contentOf()).toBe('present');
    expect(contentOf(stray)).toBe('starter page');
    expect(fs.existsSync(next)).toBe(false);
  });

  test('what comes while a restore runs waits for it', async () => {
    await Promise.all([
      snapshots.restore(install, backupId),
      snapshots.recover(install.id),
      snapshots.restore(install, backupId),
    ]);
    expect(contentOf()).toBe('from the snapshot');
    expect(fs.readdirSync(join(base, 'sites'))).toEqual([install.id]);
  });

  test('a snapshot after it takes the folder that was put back', async () => {
    fs.renameSync(site, exchangeFoldersOf(site).old);
    const second = randomUUID();
    await snapshots.snapshot(install, second);
    await snapshots.restore(install, second);
    expect(contentOf()).toBe('present');
  });

  test('files behind a link are not exchanged', async () => {
    fs.renameSync(site, join(base, 'elsewhere'));
    fs.symlinkSync(join(base, 'elsewhere'), site);
    await expect(snapshots.restore(install, backupId)).rejects.toThrow(/behind a link; nothing was restored/);
    expect(contentOf()).toBe('present');
  });
});
