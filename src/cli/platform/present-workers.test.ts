import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openTestDatabase } from '../../../test/database.ts';
import { manualClock } from '../../../test/manual-clock.ts';
import { readConfig } from '../../config/config.ts';
import { showWorker } from '../../jobs/live-workers.ts';
import { timestamp } from '../../lib/clock.ts';
import { SECOND_MS } from '../../lib/durations.ts';
import { hasLiveWorker, presentWorkers } from './present-workers.ts';
import { isServerWaiting, lockWebsites, lockWebsitesSoon, tryToLockWebsites } from './websites-lock.ts';

it('lists a busy worker of this machine longer than one that no process id tells about', async () => {
  const database = await openTestDatabase();
  onTestFinished(() => database.remove());
  const clock = manualClock();
  for (const process of [`${hostname()}:${globalThis.process.pid}`, `${hostname()}:999999999`, 'another:1']) {
    await database.write((transaction) =>
      showWorker(transaction, { id: crypto.randomUUID(), process, seenAt: timestamp(clock) }),
    );
  }
  expect((await presentWorkers(database, clock)).map(({ here }) => here).toSorted()).toEqual([false, true]);
  clock.advance(11 * SECOND_MS);
  expect((await presentWorkers(database, clock)).map(({ here }) => here)).toEqual([true]);
});

it('expects the worker of a server that has just started', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'homeport-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const database = await openTestDatabase();
  onTestFinished(() => database.remove());
  const platform = { config: readConfig({ HOMEPORT_DATA_DIR: dataDir }), database, clock: manualClock() };
  expect(await hasLiveWorker(platform)).toBe(false);
  const lock = lockWebsites(platform.config);
  expect(tryToLockWebsites(platform.config)).toBe(null);
  expect(await hasLiveWorker(platform)).toBe(true);
  const pauses: string[] = [];
  const waiting: boolean[] = [];
  const next = await lockWebsitesSoon(platform.config, {
    async pause() {
      pauses.push('pause');
      waiting.push(isServerWaiting(platform.config));
      if (pauses.length === 3) lock.release();
      expect(await hasLiveWorker(platform)).toBe(true);
    },
    report: (sentence) => void pauses.push(sentence),
  });
  expect(pauses).toEqual([expect.stringContaining(dataDir), 'pause', 'pause']);
  expect(waiting).toEqual([true, true]);
  expect(isServerWaiting(platform.config)).toBe(false);
  next.release();
  expect(await hasLiveWorker(platform)).toBe(false);
});

it('refuses a second server of the same websites after it has waited', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'homeport-'));
  onTestFinished(() => rm(dataDir, { recursive: true }));
  const lock = lockWebsites({ dataDir });
  onTestFinished(() => lock.release());
  const steps: string[] = [];
  const second = lockWebsitesSoon(
    { dataDir },
    {
      pause: async () => void steps.push('pause'),
      report: (sentence) => void steps.push(sentence),
      attempts: 2,
    },
  );
  await expect(second).rejects.toThrow(
    `Another process uses the websites in ${dataDir}: a server, or a command. End it first, or start this one with "--only api".`,
  );
  expect(steps).toEqual([`Waiting for another process that uses the websites in ${dataDir}.`, 'pause']);
});
