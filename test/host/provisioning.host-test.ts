import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PermanentHostError } from '../../src/hosting/contract/errors.ts';
import { connectHost } from '../../src/hosting/remote/client.ts';
import { visit } from '../edge.ts';
import { steps } from '../rounds.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';
import { startKilledHost } from './start-killed-host.ts';
import { plainState } from './state.ts';
import { tracesOf } from './traces.ts';

/** Every step; the last test fails if a new one is missing here. */
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
beforeAll(async () => {
  machine = await createPreparedMachine();
});
afterAll(() => machine?.remove());

const connect = () => connectHost({ name: 'test', socket: `${machine.runFolder}/host.sock` });

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

  const { host, stop } = await machine.start();
  expect(await tracesOf(machine)).toEqual([]);
  await host.apply(install);
  await stop();

  // Complete now, and still here for the next host.
  const again = await machine.start();
  const { edgeHttp, edgeHttps, sshListen } = machine.config;
  const page = await visit({ hosting: { edgeHttp, edgeHttps, ssh: sshListen } }, 'http://killed.sites.test/');
  expect(page.status).toBe(200);
  expect(page.body).toContain('/wp-content/');
  await again.host.remove(install);
  expect(await tracesOf(machine)).toEqual([]);
  await again.stop();
}, 300_000);

test('a website that cannot be completed is undone at once, and the host says why', async () => {
  const reached: string[] = [];
  const { host, stop } = await machine.start({ reached: (step) => reached.push(step) });
  const failing = { ...plainState('failing'), phpVersion: '5.2' };
  await expect(host.apply(failing)).rejects.toThrow(PermanentHostError);
  await expect(host.apply(failing)).rejects.toThrow(/this host has no PHP 5\.2; available: \d/);
  const ending = new AbortController();
  const aborted = host.apply(plainState('aborted'), ending.signal);
  ending.abort(new Error('no longer wanted'));
  await expect(aborted).rejects.toThrow();
  expect(await tracesOf(machine)).toEqual([]);

  const whole = plainState('whole');
  await host.apply(whole);
  expect([...new Set(reached)].sort()).toEqual([...STEPS].sort());
  await host.remove(whole);
  await stop();
});
