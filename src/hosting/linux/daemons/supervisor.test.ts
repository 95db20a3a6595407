import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import type { DaemonSpec, Daemons } from '../machine/daemon.ts';
import { createCgroups } from './cgroups.ts';
import { expectExchanges } from './kept-program.fixture.ts';
import { startTimeOf } from './process-records.ts';
import { createSupervisor } from './supervisor.ts';

let folder: string;
let lines: { level: number; msg: string; daemon?: string }[];
let supervisor: Daemons;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-supervisor-'));
  lines = [];
  supervisor = supervise();
});

afterEach(async () => {
  await supervisor.stop();
  await rm(folder, { recursive: true });
});

/** Without cgroups, so that the tests need no root. */
function supervise(restarts = { firstMs: 20, longestMs: 80, healthyMs: 60_000 }): Daemons {
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const cgroups = createCgroups({ instance: 'test', log, root: folder });
  return createSupervisor({
    runFolder: folder,
    cgroups,
    log,
    clock: systemClock,
    restarts,
  });
}

/** Waits until the current process reports ready, not an earlier one. */
async function ready(): Promise<void> {
  const pid = Number(await readFile(join(folder, 'ready'), 'utf8'));
  if ((await startTimeOf(pid)) === null) throw new Error(`${pid} does not run`);
}

/** A shell script as a daemon; it is ready once it has written its number into `ready`. */
function script(text: string, spec: Partial<DaemonSpec> = {}): DaemonSpec {
  return {
    name: 'script',
    description: 'Script of the test',
    command: ['/bin/sh', '-c', text],
    environment: { FOLDER: folder },
    ready,
    readyWithinMs: 30_000,
    ...spec,
  };
}

const RUNS = 'echo $$ >> $FOLDER/pids; echo $$ > $FOLDER/ready; exec sleep 600';

async function pids(): Promise<number[]> {
  return (await readFile(join(folder, 'pids'), 'utf8')).trim().split('\n').map(Number);
}

async function until<Value>(look: () => Promise<Value>, wanted: (value: Value) => boolean): Promise<Value> {
  for (let tried = 0; tried < 3_000; tried++) {
    const value = await look();
    if (wanted(value)) return value;
    await pause(10);
  }
  throw new Error('the condition was not met within 30 s');
}

test('starts a daemon, and leaves it alone while its specification stays the same', async () => {
  await supervisor.ensure(script(RUNS));
  await supervisor.ensure(script(RUNS));
  const [pid] = await pids();
  expect(await pids()).toHaveLength(1);
  expect(await supervisor.list()).toMatchObject([{ name: 'script', state: 'running', pid }]);
});

test('restarts it if its command, environment or limits change', async () => {
  await supervisor.ensure(script(RUNS));
  await supervisor.ensure(script(`true; ${RUNS}`));
  await supervisor.ensure(script(`true; ${RUNS}`, { environment: { FOLDER: folder, MORE: '1' } }));
  const limits = { memoryMb: 64, cpuPercent: 50, processes: 8 };
  await supervisor.ensure(script(`true; ${RUNS}`, { environment: { FOLDER: folder, MORE: '1' }, limits }));
  const started = await pids();
  expect(started).toHaveLength(4);
  expect(await Promise.all(started.map(startTimeOf))).toEqual([null, null, null, expect.any(String)]);
});

test('passes PATH, LC_ALL and the specified environment, and nothing of this process', async () => {
  process.env.HOMEPORT_SECRET = 'secret';
  await supervisor.ensure(script(`env > $FOLDER/env; ${RUNS}`));
  delete process.env.HOMEPORT_SECRET;
  const environment = await readFile(join(folder, 'env'), 'utf8');
  const names = environment
    .trim()
    .split('\n')
    .map((line) => line.split('=')[0]);
  expect(names.filter((name) => name !== 'PWD' && name !== '_').sort()).toEqual(['FOLDER', 'LC_ALL', 'PATH']);
});

test('restarts it when it ends, with growing delays, and logs it', async () => {
  await supervisor.ensure(script(RUNS));
  const [first = 0] = await pids();
  process.kill(first, 'SIGKILL');
  await until(pids, (started) => started.length === 2);
  const [, second = 0] = await pids();
  process.kill(second, 'SIGKILL');
  await until(pids, (started) => started.length === 3);
  const warnings = lines.filter(({ msg }) => msg === 'Script of the test was ended by SIGKILL');
  expect(warnings).toEqual([
    expect.objectContaining({ level: 40, daemon: 'script', restartInMs: 20 }),
    expect.objectContaining({ restartInMs: 40 }),
  ]);
});

test('reports the output of a daemon that ends at once, and restarts it', async () => {
  const failing = 'echo $$ >> $FOLDER/pids; echo "cannot open the thing" >&2; exit 3';
  await expect(supervisor.ensure(script(failing))).rejects.toThrow(
    'Script of the test ended with status 3; it wrote:\ncannot open the thing',
  );
  await until(pids, (started) => started.length >= 3);
  expect((await supervisor.list())[0]?.name).toBe('script');
});

test('reports the output and the reason if a daemon is not ready in time', async () => {
  const slow = script('echo starting; exec sleep 600', {
    // Long enough for a shell to start on a busy machine.
    readyWithinMs: 2_000,
    ready: () => Promise.reject(new Error('no socket')),
  });
  await expect(supervisor.ensure(slow)).rejects.toThrow(
    'Script of the test is not ready after 2000 ms: no socket; it wrote:\nstarting',
  );
});

test('stops waiting for a check that never settles', async () => {
  const silent = script(RUNS, { readyWithinMs: 200, ready: () => new Promise(() => {}) });
  await expect(supervisor.ensure(silent)).rejects.toThrow('is not ready after 200 ms: it does not answer');
});

test('names a missing program', async () => {
  await expect(supervisor.ensure(script('', { command: ['/nonexistent/program'] }))).rejects.toThrow(
    'could not be started: spawn /nonexistent/program ENOENT',
  );
});

test('starts a daemon at once if requested while it waits for its restart', async () => {
  const fails =
    'echo $$ >> $FOLDER/pids; test -e $FOLDER/fixed && echo $$ > $FOLDER/ready && exec sleep 600; exit 1';
  const spec = script(fails);
  await supervisor.stop();
  supervisor = supervise({ firstMs: 600_000, longestMs: 600_000, healthyMs: 60_000 });
  await expect(supervisor.ensure(spec)).rejects.toThrow('status 1');
  await writeFile(join(folder, 'fixed'), '');
  await supervisor.ensure(spec);
  expect(await supervisor.list()).toMatchObject([
    { name: 'script', state: 'running', pid: (await pids()).at(-1) },
  ]);
});

test('waits for a daemon that was not ready in time, without a restart', async () => {
  const late =
    'echo $$ >> $FOLDER/pids; until [ -e $FOLDER/go-on ]; do sleep 0.01; done; echo $$ > $FOLDER/ready; exec sleep 600';
  await expect(supervisor.ensure(script(late, { readyWithinMs: 100 }))).rejects.toThrow('is not ready');
  await writeFile(join(folder, 'go-on'), '');
  await until(
    () => supervisor.untilReady('script').catch(() => 'late'),
    (outcome) => outcome !== 'late',
  );
  expect(await pids()).toHaveLength(1);
  expect(await supervisor.list()).toMatchObject([{ state: 'running' }]);
  await expect(supervisor.untilReady('other')).rejects.toThrow('there is no daemon other');
});

test('stops it with its stop signal, and removing a missing one succeeds', async () => {
  const polite =
    "trap 'echo bye > $FOLDER/bye; exit 0' QUIT; echo $$ > $FOLDER/ready; while :; do sleep 0.01; done";
  await supervisor.ensure(script(polite, { stopSignal: 'SIGQUIT' }));
  await supervisor.remove('script');
  expect(await readFile(join(folder, 'bye'), 'utf8')).toBe('bye\n');
  expect(await supervisor.list()).toEqual([]);
  expect(await readdir(join(folder, 'daemons'))).toEqual([]);
  await supervisor.remove('script');
});

test('kills a daemon that does not stop, with its children', async () => {
  const stubborn =
    'trap "" TERM; sleep 600 & echo $! >> $FOLDER/pids; echo $$ > $FOLDER/ready; while :; do sleep 1; done';
  await supervisor.ensure(script(stubborn, { stopWithinMs: 100 }));
  const [child = 0] = await pids();
  await supervisor.remove('script');
  await until(
    () => startTimeOf(child),
    (startTime) => startTime === null,
  );
});

test('kills the children of an ended daemon before the restart', async () => {
  const parent =
    'sleep 600 & echo $! >> $FOLDER/pids; echo $$ >> $FOLDER/parents; echo $$ > $FOLDER/ready; wait';
  await supervisor.ensure(script(parent));
  const [child = 0] = await pids();
  process.kill(Number(await readFile(join(folder, 'parents'), 'utf8')), 'SIGKILL');
  await until(pids, (started) => started.length === 2);
  expect(await startTimeOf(child)).toBeNull();
});

test('restarts and signals running daemons, and refuses unknown ones', async () => {
  await supervisor.ensure(
    script(`trap 'echo hup > $FOLDER/hup' HUP; echo $$ > $FOLDER/ready; while :; do sleep 0.01; done`),
  );
  await supervisor.signal('script', 'SIGHUP');
  await until(
    () => readdir(folder),
    (names) => names.includes('hup'),
  );
  const [before] = await supervisor.list();
  await supervisor.restart('script');
  const [after] = await supervisor.list();
  expect(after?.pid).not.toBe(before?.pid);
  await expect(supervisor.restart('other')).rejects.toThrow('there is no daemon other');
  await expect(supervisor.signal('other', 'SIGHUP')).rejects.toThrow('there is no daemon other');
  await expect(supervisor.ensure(script(RUNS, { name: '../escape' }))).rejects.toThrow(
    'cannot be the name of a daemon',
  );
});

test('ends what a killed host left, but no unrelated process with the same number', async () => {
  await supervisor.ensure(script(RUNS));
  const [pid = 0] = await pids();
  const record = JSON.parse(await readFile(join(folder, 'daemons', 'script.json'), 'utf8'));
  expect(record).toMatchObject({ pid, startTime: await startTimeOf(pid) });
  const stranger = { ...record, startTime: '1' };
  await writeFile(join(folder, 'daemons', 'stranger.json'), JSON.stringify(stranger));
  await rm(join(folder, 'daemons', 'script.json'));

  await supervise().start();
  expect(await startTimeOf(pid)).not.toBeNull();

  await writeFile(join(folder, 'daemons', 'script.json'), JSON.stringify(record));
  await supervise().start();
  expect(await startTimeOf(pid)).toBeNull();
  expect(await readdir(join(folder, 'daemons'))).not.toContain('stranger.json');
});

test('starts nothing once the host is ending', async () => {
  await supervisor.ensure(script(RUNS));
  const [pid = 0] = await pids();
  await supervisor.stop();
  expect(await startTimeOf(pid)).toBeNull();
  await expect(supervisor.ensure(script(RUNS))).rejects.toThrow('the host is ending');
});

test('logs every line, and problems as warnings', async () => {
  await supervisor.ensure(script(`echo hello; echo "[ERROR] disk full" >&2; printf 'no end'; ${RUNS}`));
  await until(
    async () => lines,
    (all) => all.some(({ msg }) => msg === '[ERROR] disk full'),
  );
  expect(lines).toContainEqual(expect.objectContaining({ level: 30, daemon: 'script', msg: 'hello' }));
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 40, daemon: 'script', msg: '[ERROR] disk full' }),
  );
});

test('exchanges the program of a daemon that keeps its sockets', () =>
  expectExchanges(() => supervisor, folder));
