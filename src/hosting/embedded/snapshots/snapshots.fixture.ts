import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { NO_LIMITS } from '../../contract/install-limits.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import { createSnapshots, type SnapshotsOptions } from './snapshots.ts';

export type SnapshotPlace = ReturnType<typeof makeSnapshotPlace>;

/** The empty website of an install, and a folder for snapshots of it. */
export function makeSnapshotPlace(more: Partial<SnapshotsOptions> = {}) {
  const base = fs.mkdtempSync(join(tmpdir(), 'snapshots-'));
  const install: InstallRef = { id: randomUUID(), name: 'shop' };
  const backupId = randomUUID();
  const site = join(base, 'sites', install.id);
  fs.mkdirSync(site, { recursive: true });
  const snapshots = createSnapshots({
    folder: join(base, 'backups'),
    filesOf: (id) => join(base, 'sites', id),
    limits: NO_LIMITS,
    clock: systemClock,
    ...more,
  });

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

  /** Defaces the website. */
  function wreck(): void {
    fs.rmSync(site, { recursive: true });
    fs.mkdirSync(site);
    put('index.html', 'defaced');
    put('shell.php', 'evil');
  }

  /** Waits until that much of the archive is written. */
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

  return { base, install, backupId, site, snapshots, put, archivePath, manifestLines, wreck, untilWriting };
}

/** All entries of a folder, with everything that a restore must bring back. Times to the microsecond. */
export function stateOf(folder: string): Record<string, unknown> {
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

export function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

export function hashOfLarge(path: string): string {
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
export function expectSameState(actual: Record<string, unknown>, expected: Record<string, unknown>): void {
  const timeless = (state: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(state).map(([name, entry]) => [name, { ...Object(entry), mtime: 0 }]));
  expect(timeless(actual)).toEqual(timeless(expected));
  for (const name of Object.keys(expected)) {
    const difference = Math.abs(Object(actual[name]).mtime - Object(expected[name]).mtime);
    expect(difference, name).toBeLessThanOrEqual(2);
  }
}
