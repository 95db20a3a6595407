import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunningMachine } from '../../src/app/linux-host.ts';
import { PermanentHostError } from '../../src/hosting/contract/errors.ts';
import { connectHost } from '../../src/hosting/remote/client.ts';
import { visit } from '../edge.ts';
import { onlyInLong, steps } from '../rounds.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';
import { startKilledHost } from './start-killed-host.ts';
import { plainState } from './state.ts';
import { tracesOf } from './traces.ts';

/** Every step; the first test fails if a new one is missing here. */
const STEPS = [
  'unix user',
  'folders',
  'database',
  'limits',
  'redis',
  'php',
  'purge socket',
  'mail socket',
  'wordpress',
  'vhost',
  'warm-up',
  'answer',
];

let machine: TestMachine;
let running: RunningMachine;
/** Steps that the running host has reached. */
const reached: string[] = [];
beforeAll(async () => {
  machine = await createPreparedMachine();
});
afterAll(() => machine?.remove());

const connect = () => connectHost({ name: 'test', socket: `${machine.runFolder}/host.sock` });

async function expectWhole(): Promise<void> {
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  const page = await visit({ hosting: { edgeHttp, edgeHttps, ssh: sshListen } }, 'http://killed.sites.test/');
  expect(page.status).toBe(200);
  expect(page.body).toContain('/wp-content/');
}

test('a host killed after any provisioning step leaves the whole website or nothing', async () => {
  const install = plainState('killed');
  for (const step of steps(['wordpress'], STEPS)) {
    // The new host has undone what the previous one left.
    const child = await startKilledHost(machine, step);
    expect(await tracesOf(machine), `after a kill before ${step}`).toEqual([]);
    const ended = once(child, 'exit');
    const host = connect();
    await expect(host.apply(install)).rejects.toThrow();
    await host.close();
    await ended;
    expect(child.signalCode, step).toBe('SIGKILL');
  }

  running = await machine.start({ reached: (step) => reached.push(step) });
  expect(await tracesOf(machine)).toEqual([]);
  const { host } = running;
  reached.length = 0;
  await host.apply(install);
  expect([...new Set(reached)].sort()).toEqual([...STEPS].sort());
  await expectWhole();
  await host.remove(install);
  expect(await tracesOf(machine)).toEqual([]);
}, 300_000);

onlyInLong(test)('a provisioned website is still here for the next host', async () => {
  const install = plainState('killed');
  await running.host.apply(install);
  await running.stop();
  running = await machine.start();
  await expectWhole();
  await running.host.remove(install);
});

test('a website that cannot be completed is undone at once, and the host says why', async () => {
  const { host } = running;
  const failing = { ...plainState('failing'), phpVersion: '5.2' };
  await expect(host.apply(failing)).rejects.toThrow(PermanentHostError);
  await expect(host.apply(failing)).rejects.toThrow(/this host has no PHP 5\.2; available: \d/);
  const ending = new AbortController();
  const aborted = host.apply(plainState('aborted'), ending.signal);
  ending.abort(new Error('no longer wanted'));
  await expect(aborted).rejects.toThrow();
  expect(await tracesOf(machine)).toEqual([]);
});
