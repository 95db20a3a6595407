import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import type { DaemonSpec, Daemons } from '../machine/daemon.ts';
import { createCgroups } from './cgroups.ts';
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

/** Without cgroups, as on a machine where there are none, so that the tests need no root. */
function supervise(): Daemons {
  const log = pino({ base: null }, { write: (line: string) => lines.push(JSON.parse(line)) });
  const cgroups = createCgroups({ instance: 'test', log, root: folder });
  return createSupervisor({
    runFolder: folder,
    cgroups,
    log,
    clock: systemClock,
    restarts: { firstMs: 20, longestMs: 80, healthyMs: 60_000 },
  });
}

/** Whether the one that runs now says so, and not one before it. */
async function ready(): Promise<void> {
  const pid = Number(await readFile(join(folder, 'ready'), 'utf8'));
  if ((await startTimeOf(pid)) === null) throw new Error(`${pid} does not run`);
}

/** A shell script as daemon, which is ready once it has written its number into `ready`. */
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
  throw new Error('it did not come to that within 30 s');
}

test('starts a daemon, and leaves it alone as long as it is wanted so', async () => {
  await supervisor.ensure(script(RUNS));
  await supervisor.ensure(script(RUNS));
  const [pid] = await pids();
  expect(await pids()).toHaveLength(1);
  expect(await supervisor.list()).toEqual([{ name: 'script', state: 'running', pid }]);
});

test('starts it anew when its command, its environment or its limits are to be others', async () => {
  await supervisor.ensure(script(RUNS));
  await supervisor.ensure(script(`true; ${RUNS}`));
  await supervisor.ensure(script(`true; ${RUNS}`, { environment: { FOLDER: folder, MORE: '1' } }));
  const limits = { memoryMb: 64, cpuPercent: 50, processes: 8 };
  await supervisor.ensure(script(`true; ${RUNS}`, { environment: { FOLDER: folder, MORE: '1' }, limits }));
  const started = await pids();
  expect(started).toHaveLength(4);
  expect(await Promise.all(started.map(startTimeOf))).toEqual([null, null, null, expect.any(String)]);
});

test('gives it PATH, LC_ALL and its own environment, and nothing of this process', async () => {
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

test('starts it again when it ends, more slowly each time, and says so', async () => {
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

test('tells what one wrote that ends at once, and starts it again all the same', async () => {
  const failing = 'echo $$ >> $FOLDER/pids; echo "cannot open the thing" >&2; exit 3';
  await expect(supervisor.ensure(script(failing))).rejects.toThrow(
    'Script of the test ended with status 3; it wrote:\ncannot open the thing',
  );
  await until(pids, (started) => started.length >= 3);
  expect((await supervisor.list())[0]?.name).toBe('script');
});

test('tells what one wrote that is not ready in time, and why', async () => {
  const slow = script('echo starting; exec sleep 600', {
    // Long enough for a shell to start on a busy machine.
    readyWithinMs: 2_000,
    ready: () => Promise.reject(new Error('no socket')),
  });
  await expect(supervisor.ensure(slow)).rejects.toThrow(
    'Script of the test is not ready after 2000 ms: no socket; it wrote:\nstarting',
  );
});

test('waits no longer for an answer that never comes', async () => {
  const silent = script(RUNS, { readyWithinMs: 200, ready: () => new Promise(() => {}) });
  await expect(supervisor.ensure(silent)).rejects.toThrow('is not ready after 200 ms: it does not answer');
});

test('says which program is not there', async () => {
  await expect(supervisor.ensure(script('', { command: ['/nonexistent/program'] }))).rejects.toThrow(
    'could not be started: spawn /nonexistent/program ENOENT',
  );
});

test('a daemon that waits for its restart is started at once when it is wanted', async () => {
  const fails =
    'echo $$ >> $FOLDER/pids; test -e $FOLDER/mended && echo $$ > $FOLDER/ready && exec sleep 600; exit 1';
  const spec = script(fails);
  await expect(supervisor.ensure(spec)).rejects.toThrow('status 1');
  await writeFile(join(folder, 'mended'), '');
  await supervisor.ensure(spec);
  expect(await supervisor.list()).toEqual([{ name: 'script', state: 'running', pid: (await pids()).at(-1) }]);
});

test('asks it to end with the signal it wants, and removes what is not there', async () => {
  const polite =
    "trap 'echo bye > $FOLDER/bye; exit 0' QUIT; echo $$ > $FOLDER/ready; while :; do sleep 0.01; done";
  await supervisor.ensure(script(polite, { stopSignal: 'SIGQUIT' }));
  await supervisor.remove('script');
  expect(await readFile(join(folder, 'bye'), 'utf8')).toBe('bye\n');
  expect(await supervisor.list()).toEqual([]);
  expect(await readdir(join(folder, 'daemons'))).toEqual([]);
  await supervisor.remove('script');
});

test('kills what does not end, its children too', async () => {
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

test('ends the children of one that has ended, before it starts it again', async () => {
  const parent =
    'sleep 600 & echo $! >> $FOLDER/pids; echo $$ >> $FOLDER/parents; echo $$ > $FOLDER/ready; wait';
  await supervisor.ensure(script(parent));
  const [child = 0] = await pids();
  process.kill(Number(await readFile(join(folder, 'parents'), 'utf8')), 'SIGKILL');
  await until(pids, (started) => started.length === 2);
  expect(await startTimeOf(child)).toBeNull();
});

test('restarts and signals what runs, and refuses what was never wanted', async () => {
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

test('ends what a killed host left, and leaves a stranger with its number alone', async () => {
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

test('starts nothing any more when the host ends', async () => {
  await supervisor.ensure(script(RUNS));
  const [pid = 0] = await pids();
  await supervisor.stop();
  expect(await startTimeOf(pid)).toBeNull();
  await expect(supervisor.ensure(script(RUNS))).rejects.toThrow('the host is ending');
});

test('passes every line on to the log, that of something amiss as a warning', async () => {
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
