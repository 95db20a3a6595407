import { createHash, randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { NO_LIMITS } from '../../contract/install-limits.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { ArchiveFiles } from './archive-files.ts';
import type { ManifestTotals } from './archive-manifest.ts';
import { writeArchive } from './archive-write.fixture.ts';
import { createSnapshots, type SnapshotsOptions } from './snapshots.ts';
import { listedChunks } from './store/chunk-list.ts';
import { createChunkStore } from './store/chunk-store.ts';

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

  const backups = join(base, 'backups', install.id);

  function manifestPath(id = backupId): string {
    return join(backups, `${id}.backup.jsonl`);
  }

  /** The packs of the install, complete ones. */
  function packs(): string[] {
    const folder = join(backups, 'packs');
    if (!fs.existsSync(folder)) return [];
    return fs
      .readdirSync(folder)
      .filter((name) => name.endsWith('.pack'))
      .map((name) => join(folder, name));
  }

  const storedBytes = (): number => packs().reduce((sum, pack) => sum + fs.statSync(pack).size, 0);

  /** The header of a backup, its entries and its end. */
  function manifestLines(id = backupId): unknown[] {
    const store = createChunkStore(join(backups, 'packs'));
    const entriesOf = (line: unknown): unknown[] => {
      const listed: unknown = Object(line).entries;
      if (typeof listed !== 'string') return [line];
      return parsedLines(store.read(listedChunks(listed) ?? []).toString());
    };
    const lines = linesIn(manifestPath(id)).flatMap(entriesOf);
    store.close();
    return lines;
  }

  function archiveFiles(id = backupId): ArchiveFiles {
    return { archive: join(backups, `${id}.tar.zst`), manifest: join(backups, `${id}.manifest.jsonl`) };
  }

  /** Makes a backup as an earlier version did. */
  async function archive(id = backupId): Promise<ManifestTotals> {
    fs.mkdirSync(backups, { recursive: true });
    const header = { install_id: install.id, install_name: install.name, backup_id: id, created_at: '' };
    return writeArchive(
      site,
      archiveFiles(id),
      { format: 'homeport-snapshot', version: 1, ...header },
      systemClock,
    );
  }

  /** Defaces the website. */
  function wreck(): void {
    fs.rmSync(site, { recursive: true });
    fs.mkdirSync(site);
    put('index.html', 'defaced');
    put('shell.php', 'evil');
  }

  /** Waits until the first pack is written, which has 16 MiB. */
  async function untilWriting(): Promise<void> {
    while (packs().length === 0) await sleep(1);
  }

  return {
    base,
    install,
    backupId,
    site,
    backups,
    snapshots,
    put,
    manifestPath,
    packs,
    storedBytes,
    manifestLines,
    archiveFiles,
    archive,
    wreck,
    untilWriting,
  };
}

export const linesIn = (path: string): unknown[] => parsedLines(fs.readFileSync(path, 'utf8'));

function parsedLines(text: string): unknown[] {
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
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
