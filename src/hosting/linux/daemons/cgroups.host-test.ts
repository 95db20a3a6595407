import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, rmdir, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../../../lib/run-command.ts';
import { type Cgroups, createCgroups } from './cgroups.ts';
import { startTimeOf } from './process-records.ts';

const INSTANCE = 'hptcgroups';
const log = pino({ level: 'silent' });
const LIMITS = { memoryMb: 64, cpuPercent: 20, processes: 10 };

let cgroups: Cgroups;

beforeAll(() => {
  cgroups = createCgroups({ instance: INSTANCE, log });
});

afterEach(async () => {
  for (const name of await cgroups.list()) await cgroups.remove(name);
});

const MANY = 'for (1..60) { my $pid = fork; last if defined $pid && $pid == 0 } sleep 20';
/** Ends after a while, so that a failing test does not leave it running. */
const BOMB = 'alarm 20; for (1..1000) { my $pid = fork; last unless defined $pid } sleep 20';

/** Runs a Perl program in the group. */
const perl = (group: string, program: string) => {
  const [file = '', ...args] = [...cgroups.enter(group), '/usr/bin/perl', '-e', program];
  return runCommand(file, args, { timeoutMs: 20_000 });
};

async function membersOf(folder: string): Promise<number> {
  return (await readFile(join(folder, 'cgroup.procs'), 'utf8')).split('\n').length - 1;
}

/** A long-running process. */
async function sleeper(command: readonly string[] = []): Promise<number> {
  const [file = '', ...args] = [...command, '/bin/sleep', '600'];
  const child = spawn(file, args, { stdio: 'ignore' });
  await once(child, 'spawn');
  if (child.pid === undefined) throw new Error('no process');
  return child.pid;
}

test('starts a command inside the group, with unchanged arguments', async () => {
  await cgroups.set('group', null);
  const { stdout } = await perl('group', 'open F, "/proc/self/cgroup"; print <F>; print "|@ARGV"');
  expect(stdout).toContain(`/homeport-${INSTANCE}/group\n`);
  const [file = '', ...args] = [...cgroups.enter('group'), '/bin/echo', '--', '-e', '$HOME', 'a  b'];
  expect((await runCommand(file, args)).stdout).toBe('-- -e $HOME a  b\n');
});

test('reports a command it cannot run, and a missing group', async () => {
  await cgroups.set('group', null);
  const [file = '', ...args] = [...cgroups.enter('group'), '/nonexistent'];
  await expect(runCommand(file, args)).rejects.toThrow('cannot run /nonexistent: No such file or directory');
  await expect(perl('nothing', '')).rejects.toThrow('cannot enter');
});

test('limits memory', async () => {
  await cgroups.set('group', LIMITS);
  await expect(perl('group', 'my $hog = "x" x (200 * 1024 * 1024); print length $hog')).rejects.toThrow();
  expect((await perl('group', 'my $x = "x" x (10 * 1024 * 1024); print length $x')).stdout).toBe('10485760');
});

test('limits processes', async () => {
  await cgroups.set('group', LIMITS);
  const forks =
    'my $n = 0; for (1..50) { my $p = fork; last unless defined $p; if ($p) { $n++ } else { sleep 2; exit } } print $n';
  expect(Number((await perl('group', forks)).stdout)).toBe(9);
});

test('limits processor time', async () => {
  await cgroups.set('group', LIMITS);
  const work = 'my $end = time + 2; 1 while time < $end; print((times)[0] + (times)[1])';
  expect(Number((await perl('group', work)).stdout)).toBeLessThan(0.8);
});

test('changes and removes limits of running processes', async () => {
  await cgroups.set('group', LIMITS);
  await cgroups.set('group', { ...LIMITS, memoryMb: 512 });
  expect((await perl('group', 'my $x = "x" x (100 * 1024 * 1024); print "ok"')).stdout).toBe('ok');
  await cgroups.set('group', LIMITS);
  await expect(perl('group', 'my $x = "x" x (100 * 1024 * 1024); print "ok"')).rejects.toThrow();
  await cgroups.set('group', null);
  expect((await perl('group', 'my $x = "x" x (100 * 1024 * 1024); print "ok"')).stdout).toBe('ok');
});

test('adopts a running process, reports its usage, and kills it', async () => {
  const pid = await sleeper();
  await cgroups.addProcess('late', pid);
  expect(await cgroups.usage('late')).toEqual({ memoryBytes: expect.any(Number), processes: 1 });
  expect(await cgroups.list()).toEqual(['late']);
  await cgroups.kill('late');
  expect(await startTimeOf(pid)).toBeNull();
  // The group can be used again.
  const next = await sleeper(cgroups.enter('late'));
  while ((await cgroups.usage('late'))?.processes !== 1) await pause(5);
  await cgroups.remove('late');
  expect(await startTimeOf(next)).toBeNull();
  expect(await cgroups.usage('late')).toBeNull();
  await cgroups.remove('late');
  await cgroups.kill('late');
  // The host's own folder is gone too.
  expect(existsSync(`/sys/fs/cgroup/pids/homeport-${INSTANCE}`)).toBe(false);
});

test('kills a process that forks as fast as it can', async () => {
  await cgroups.set('bomb', { ...LIMITS, processes: 200, cpuPercent: 100 });
  const [file = '', ...args] = [...cgroups.enter('bomb'), '/usr/bin/perl', '-e', BOMB];
  spawn(file, args, { stdio: 'ignore', detached: true });
  while (((await cgroups.usage('bomb'))?.processes ?? 0) < 50) await pause(10);
  await cgroups.kill('bomb');
  await pause(100);
  expect(
    await membersOf(
      `/sys/fs/cgroup/${existsSync('/sys/fs/cgroup/pids') ? 'pids/' : ''}homeport-${INSTANCE}/bomb`,
    ),
  ).toBe(0);
});

/**
 * A machine with version 1 controllers also has version 2, without limits: a group there represents a machine with
 * version 2 alone.
 */
test.runIf(existsSync('/sys/fs/cgroup/unified/cgroup.procs'))(
  'kills by version 2’s cgroup.kill',
  async () => {
    const real = '/sys/fs/cgroup/unified/hptunified';
    const root = await mkdtemp(join(tmpdir(), 'homeport-cgroups-'));
    try {
      await mkdir(real);
      await writeFile(join(root, 'cgroup.controllers'), 'cpu memory pids');
      const unified = createCgroups({ instance: 'hptunified', log, root });
      await symlink(real, join(root, 'homeport-hptunified', 'bomb'));
      const [file = '', ...args] = [...unified.enter('bomb'), '/usr/bin/perl', '-e', MANY];
      spawn(file, args, { stdio: 'ignore' });
      while ((await membersOf(real)) < 50) await pause(10);
      await unified.addProcess('bomb', await sleeper());
      await unified.kill('bomb');
      expect(await membersOf(real)).toBe(0);
    } finally {
      // The kernel allows this only a moment after the last process is gone.
      for (let tried = 0; tried < 50 && existsSync(real); tried++) await rmdir(real).catch(() => pause(20));
      await rm(root, { recursive: true });
    }
  },
);

test('names the limits that a group lacks', async () => {
  expect(await cgroups.check('group', LIMITS)).toBe('the cgroup group is missing');
  await cgroups.set('group', LIMITS);
  expect(await cgroups.check('group', LIMITS)).toBeNull();
  expect(await cgroups.check('group', { ...LIMITS, processes: 11 })).toBe(
    'the cgroup group has pids.max 10 instead of 11',
  );
  await cgroups.set('group', null);
  expect(await cgroups.check('group', LIMITS)).toMatch(/^the cgroup group has memory\S+ /);
});
