import Type from 'typebox';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type JobsFixture, openJobsFixture, until } from '../../test/jobs.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../lib/durations.ts';
import { defineJob } from './job.ts';
import { createScheduler, type Schedule } from './schedule.ts';

let jobs: JobsFixture;
beforeAll(async () => {
  jobs = await openJobsFixture();
});
afterEach(() => jobs.clear());
afterAll(() => jobs.remove());

const kind = defineJob({
  name: 'scheduled',
  payload: Type.Object({ schedule: Type.String() }),
  maxAttempts: 1,
  timeoutMs: 1_000,
  run: async () => {},
});

const schedule = (name: string, cron: string): Schedule => ({
  name,
  cron,
  async enqueue(transaction, queue) {
    await queue.enqueue(transaction, kind, { payload: { schedule: name }, lane: name });
  },
});

const scheduler = (schedules: Schedule[], database = jobs.database) =>
  createScheduler({ database, queue: jobs.queue, clock: jobs.clock, log: jobs.log, schedules });

async function asked(): Promise<unknown[]> {
  const rows = await jobs.database.reader.selectFrom('jobs').select('payload').orderBy('seq').execute();
  return rows.map((row) => row.payload);
}

describe('a scheduler', () => {
  it('begins a new schedule with its next slot, and takes each slot from then on', async () => {
    const one = scheduler([schedule('hourly', '30 * * * *')]);
    await one.tick();
    expect(await asked()).toEqual([]);
    jobs.clock.advance(30 * MINUTE_MS - 1);
    await one.tick();
    expect(await asked()).toEqual([]);
    jobs.clock.advance(1);
    await one.tick();
    await one.tick();
    expect(await asked()).toEqual([{ schedule: 'hourly' }]);
    jobs.clock.advance(HOUR_MS);
    await one.tick();
    expect(await asked()).toHaveLength(2);
  });

  it('takes each slot once, with any number of processes', async () => {
    const several = Array.from({ length: 5 }, () => scheduler([schedule('often', '*/5 * * * *')]));
    const all = () => Promise.all(several.map((one) => one.tick()));
    await all();
    for (let slot = 1; slot <= 6; slot++) {
      jobs.clock.advance(5 * MINUTE_MS);
      await all();
      expect(await asked()).toHaveLength(slot);
    }
  });

  it('catches up the latest missed slot, once', async () => {
    await scheduler([schedule('daily', '0 3 * * *')]).tick();
    jobs.clock.advance(10 * DAY_MS);
    const restarted = [
      scheduler([schedule('daily', '0 3 * * *')]),
      scheduler([schedule('daily', '0 3 * * *')]),
    ];
    await Promise.all(restarted.map((one) => one.tick()));
    expect(await asked()).toEqual([{ schedule: 'daily' }]);
  });

  it('keeps schedules apart', async () => {
    const one = scheduler([schedule('a', '* * * * *'), schedule('b', '0 * * * *')]);
    await one.tick();
    jobs.clock.advance(59 * MINUTE_MS);
    await one.tick();
    expect(await asked()).toEqual([{ schedule: 'a' }]);
    jobs.clock.advance(MINUTE_MS);
    await one.tick();
    expect(await asked()).toEqual([{ schedule: 'a' }, { schedule: 'a' }, { schedule: 'b' }]);
  });

  it('takes a slot and enqueues its work in one transaction, and one failure stops no other schedule', async () => {
    let fails = true;
    const frail: Schedule = {
      ...schedule('frail', '* * * * *'),
      async enqueue(transaction, queue) {
        await schedule('frail', '').enqueue(transaction, queue);
        if (fails) throw new Error('not now');
      },
    };
    const one = scheduler([frail, schedule('sound', '* * * * *')]);
    await one.tick();
    jobs.clock.advance(MINUTE_MS);
    await one.tick();
    await one.tick();
    expect(await asked()).toEqual([{ schedule: 'sound' }]);
    expect(jobs.lines.filter((line) => line.level === 50)).toHaveLength(1);
    fails = false;
    await one.tick();
    expect(await asked()).toEqual([{ schedule: 'sound' }, { schedule: 'frail' }]);
  });

  it('ticks from its start until it is stopped', async () => {
    const one = scheduler([schedule('often', '* * * * *')]);
    await one.tick();
    jobs.clock.advance(MINUTE_MS);
    one.start();
    await until(async () => expect(await asked()).toHaveLength(1));
    await one.stop();
  });

  it('refuses invalid schedules', () => {
    expect(() => scheduler([schedule('bad', '61 * * * *')])).toThrow();
    expect(() => scheduler([schedule('six fields', '0 0 3 * * *')])).toThrow();
    expect(() => scheduler([schedule('a', '* * * * *'), schedule('a', '0 * * * *')])).toThrow('same name');
  });
});
