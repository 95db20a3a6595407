import { beforeEach, expect, it } from 'vitest';
import { silent } from '../../../../test/database.ts';
import { type ManualClock, manualClock } from '../../../../test/manual-clock.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import type { DaemonStatus } from '../machine/daemon.ts';
import { createHangWatch, type HangWatch, SilentDaemonError } from './hang-watch.ts';

let clock: ManualClock;
let status: DaemonStatus;
let hangs: boolean;
let hasFiles: boolean;
let restarts: number;
let failing: number;
let watch: HangWatch;

beforeEach(() => {
  clock = manualClock();
  status = { name: 'mariadb', state: 'running', pid: 1, restarts: 0, memoryBytes: null };
  hangs = false;
  hasFiles = true;
  restarts = 0;
  failing = 0;
  watch = createHangWatch({
    name: 'mariadb',
    answers: async () => {
      if (!hasFiles) throw Object.assign(new Error('connect EMFILE'), { code: 'EMFILE' });
      if (hangs) throw new SilentDaemonError('MariaDB does not answer');
    },
    daemons: {
      list: async () => [status],
      async restart() {
        restarts += 1;
        if (failing-- > 0) throw new Error('the supervisor does not answer');
        status = { ...status, pid: (status.pid ?? 0) + 1 };
      },
    },
    clock,
    log: silent,
  });
});

async function check(times: number): Promise<number> {
  for (let time = 0; time < times; time += 1) await watch.check();
  return restarts;
}

it('restarts a daemon that answered before and is silent for four checks', async () => {
  await check(1);
  hangs = true;
  expect(await check(3)).toBe(0);
  expect(await check(1)).toBe(1);
});

it('restarts again if a restart fails', async () => {
  await check(1);
  hangs = true;
  failing = 1;
  await check(3);
  await expect(watch.check()).rejects.toThrow('supervisor');
  expect(await check(7)).toBe(1);
  expect(await check(1)).toBe(2);
});

it('counts only checks in a row', async () => {
  await check(1);
  hangs = true;
  await check(3);
  hangs = false;
  await check(1);
  hangs = true;
  expect(await check(3)).toBe(0);
});

it('counts no check in which the host could not ask', async () => {
  await check(1);
  hangs = true;
  await check(3);
  hasFiles = false;
  for (let time = 0; time < 20; time += 1) await expect(watch.check()).rejects.toThrow('EMFILE');
  expect(restarts).toBe(0);
  hasFiles = true;
  expect(await check(1)).toBe(1);
});

it('leaves a process alone that has not answered yet, or that its supervisor starts', async () => {
  hangs = true;
  expect(await check(20)).toBe(0);
  hangs = false;
  await check(1);
  hangs = true;
  status = { ...status, pid: 7 };
  expect(await check(20)).toBe(0);
  status = { ...status, state: 'restarting' };
  expect(await check(20)).toBe(0);
});

it('restarts nothing once it is stopped', async () => {
  await check(1);
  hangs = true;
  await check(3);
  watch.stop();
  expect(await check(1)).toBe(0);
});

it('waits twice as long before each further restart, until the daemon has answered for an hour', async () => {
  const hang = async (checks: number) => {
    hangs = false;
    await check(1);
    hangs = true;
    return check(checks);
  };
  expect(await hang(4)).toBe(1);
  expect(await hang(7)).toBe(1);
  expect(await check(1)).toBe(2);
  expect(await hang(15)).toBe(2);
  hangs = false;
  clock.advance(HOUR_MS);
  await check(1);
  expect(await hang(4)).toBe(3);
});
