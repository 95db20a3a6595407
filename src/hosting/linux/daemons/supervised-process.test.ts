import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../../lib/clock.ts';
import { createCgroups } from './cgroups.ts';
import { type ProcessRecords, processRecords } from './process-records.ts';
import { type SupervisedProcess, superviseProcess } from './supervised-process.ts';

let folder: string;
let daemon: SupervisedProcess;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'homeport-supervised-'));
});
afterEach(async () => {
  await daemon.stop();
  await rm(folder, { recursive: true });
});

/** Runs a script of the shell, which has the folder of the test in FOLDER. */
function supervise(
  script: string,
  ready: () => Promise<void>,
  { records = processRecords(join(folder, 'daemons')), readyWithinMs = 30_000 } = {},
) {
  const log = pino({ level: 'silent' });
  daemon = superviseProcess(
    {
      name: 'script',
      description: 'Script of the test',
      command: ['/bin/sh', '-c', script],
      environment: { FOLDER: folder },
      ready,
      readyWithinMs,
    },
    {
      cgroups: createCgroups({ instance: 'test', log, root: folder }),
      records,
      restarts: { firstMs: 1, longestMs: 1, healthyMs: 60_000 },
      clock: systemClock,
      log,
    },
  );
}

test('restarts a daemon that ends before its start is recorded', async () => {
  const records = processRecords(join(folder, 'daemons'));
  const slow: ProcessRecords = {
    ...records,
    async write(name, record) {
      // A disk much slower than the process.
      if (record.pid !== null) await pause(300);
      await records.write(name, record);
    },
  };
  supervise('echo started >> $FOLDER/starts; exit 3', () => new Promise(() => {}), { records: slow });
  await expect(daemon.untilReady()).rejects.toThrow('status 3');
  const starts = async () => (await readFile(join(folder, 'starts'), 'utf8')).trim().split('\n').length;
  await expect.poll(starts).toBeGreaterThan(2);
});

test('a daemon that does not answer yet counts as restarting', async () => {
  let answers = false;
  supervise('exec sleep 60', () => (answers ? Promise.resolve() : Promise.reject(new Error('not yet'))));
  const isReady = daemon.untilReady();
  await expect.poll(() => daemon.pid()).not.toBeNull();
  expect(daemon.state()).toBe('restarting');
  answers = true;
  await isReady;
  const first = daemon.pid();
  expect(daemon.state()).toBe('running');
  answers = false;
  process.kill(first ?? 0, 'SIGKILL');
  await expect.poll(() => ![null, first].includes(daemon.pid())).toBe(true);
  expect(daemon.state()).toBe('restarting');
  answers = true;
  await expect.poll(() => daemon.state()).toBe('running');
});

test('a daemon that was not ready in time counts as running once it answers', async () => {
  let answers = false;
  const ready = () => {
    if (!answers) throw new Error('not yet');
    return Promise.resolve();
  };
  supervise('exec sleep 60', ready, { readyWithinMs: 20 });
  await expect(daemon.untilReady()).rejects.toThrow('not yet');
  const pid = daemon.pid();
  expect(daemon.state()).toBe('restarting');
  answers = true;
  await expect.poll(() => daemon.state()).toBe('running');
  expect(daemon.pid()).toBe(pid);
});
