import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findHierarchies, type Hierarchies, limitSettings } from './cgroup-hierarchies.ts';
import { createCgroups } from './cgroups.ts';

const LIMITS = { memoryMb: 512, cpuPercent: 150, processes: 64 };
const SEPARATE: Hierarchies = { version: 1, memory: '/m', cpu: '/c', pids: '/p' };
const UNIFIED: Hierarchies = { version: 2, unified: '/u' };

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'homeport-cgroups-'));
});

afterEach(() => rm(root, { recursive: true }));

const written = (settings: ReturnType<typeof limitSettings>) =>
  settings.map(({ hierarchy, file, value }) => `${hierarchy}/${file} ${value}`);

test('version 2 limits', () => {
  expect(written(limitSettings(UNIFIED, LIMITS))).toEqual([
    '/u/memory.max 536870912',
    '/u/memory.swap.max 0',
    '/u/cpu.max 150000 100000',
    '/u/pids.max 64',
  ]);
  expect(written(limitSettings(UNIFIED, null))).toEqual([
    '/u/memory.max max',
    '/u/memory.swap.max max',
    '/u/cpu.max max 100000',
    '/u/pids.max max',
  ]);
});

test('version 1 limits: memory with swap is lifted first and lowered last', () => {
  expect(written(limitSettings(SEPARATE, LIMITS))).toEqual([
    '/m/memory.memsw.limit_in_bytes -1',
    '/m/memory.limit_in_bytes 536870912',
    '/m/memory.memsw.limit_in_bytes 536870912',
    '/c/cpu.cfs_period_us 100000',
    '/c/cpu.cfs_quota_us 150000',
    '/p/pids.max 64',
  ]);
  expect(written(limitSettings(SEPARATE, null)).slice(-2)).toEqual([
    '/c/cpu.cfs_quota_us -1',
    '/p/pids.max max',
  ]);
});

test('a quota is never below the kernel’s minimum', () => {
  const settings = written(limitSettings(UNIFIED, { ...LIMITS, cpuPercent: 0.1 }));
  expect(settings).toContain('/u/cpu.max 1000 100000');
});

test('uses version 2 if it has the controllers, and delegates them', async () => {
  await writeFile(join(root, 'cgroup.controllers'), 'cpuset cpu io memory pids\n');
  await writeFile(join(root, 'cgroup.subtree_control'), 'memory\n');
  expect(findHierarchies(root, 'homeport-a')).toEqual({ version: 2, unified: join(root, 'homeport-a') });
  expect(await readFile(join(root, 'cgroup.subtree_control'), 'utf8')).toBe('+cpu +pids');
  expect(await readFile(join(root, 'homeport-a/cgroup.subtree_control'), 'utf8')).toBe('+memory +cpu +pids');
});

test('uses version 1 if each controller has its own hierarchy', async () => {
  for (const controller of ['memory', 'cpu', 'pids', 'unified']) {
    await mkdir(join(root, controller));
    await writeFile(join(root, controller, 'cgroup.procs'), '');
  }
  expect(findHierarchies(root, 'homeport-a')).toEqual({
    version: 1,
    memory: join(root, 'memory/homeport-a'),
    cpu: join(root, 'cpu/homeport-a'),
    pids: join(root, 'pids/homeport-a'),
  });
});

test('without controllers, limits nothing and logs it once', async () => {
  await writeFile(join(root, 'cgroup.controllers'), 'hugetlb\n');
  const lines: { reason?: string }[] = [];
  const log = pino({}, { write: (line: string) => lines.push(JSON.parse(line)) });
  const cgroups = createCgroups({ instance: 'a', log, root });
  await cgroups.set('php', LIMITS);
  await cgroups.addProcess('php', 1);
  await cgroups.kill('php');
  await cgroups.remove('php');
  expect(cgroups.enter('php')).toEqual([]);
  expect(await cgroups.usage('php')).toBeNull();
  expect(await cgroups.list()).toEqual([]);
  expect(lines.map(({ reason }) => reason)).toEqual([`${root} has no controllers for memory, cpu, pids`]);
  expect(await readdir(root)).toEqual(['cgroup.controllers']);
});

test('refuses invalid names', async () => {
  await writeFile(join(root, 'cgroup.controllers'), 'cpu memory pids\n');
  const cgroups = createCgroups({ instance: 'a', log: pino({ level: 'silent' }), root });
  for (const name of ['', '..', 'a/b', 'A', 'a'.repeat(101)]) {
    await expect(cgroups.set(name, null)).rejects.toThrow('cannot be the name of a cgroup');
    expect(() => cgroups.enter(name)).toThrow('cannot be the name of a cgroup');
    await expect(cgroups.remove(name)).rejects.toThrow('cannot be the name of a cgroup');
  }
});
