import Type from 'typebox';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type JobsFixture, openJobsFixture } from '../../test/jobs.ts';
import type { JobState } from '../database/tables/jobs.ts';
import { uniqueViolation } from '../database/unique-violation.ts';
import { timestamp } from '../lib/clock.ts';
import { claimDue } from './claim.ts';
import { defineJob } from './job.ts';
import { advanceLane } from './lanes.ts';
import { endAttempt, findLapsed, LeaseLost, renewLeases } from './leases.ts';

let jobs: JobsFixture;
beforeAll(async () => {
  jobs = await openJobsFixture();
});
afterEach(() => jobs.clear());
afterAll(() => jobs.remove());

const kind = defineJob({
  name: 'test',
  payload: Type.Object({}),
  maxAttempts: 3,
  timeoutMs: 1_000,
  run: async () => {},
});
const me = crypto.randomUUID();

async function claim(limit = 10, workerId = me): Promise<string[]> {
  const claimed = await jobs.database.write((transaction) =>
    claimDue(transaction, {
      workerId,
      kinds: ['test'],
      class: 'short',
      limitOfOneShare: 100,
      running: new Map(),
      cursor: '',
      now: timestamp(jobs.clock),
      leaseUntil: timestamp(jobs.clock, 10_000),
      limit,
    }),
  );
  return claimed.jobs.map((job) => job.id);
}

const setState = (id: string, state: JobState) =>
  jobs.database.write(async (transaction) => {
    await transaction.queries.updateTable('jobs').set({ state }).where('id', '=', id).execute();
    await advanceLane(transaction, (await jobs.row(id)).lane);
  });

describe('claiming', () => {
  it('takes the first of each lane and all without a lane, oldest first, up to the limit', async () => {
    const a1 = await jobs.ask(kind, {}, { lane: 'a' });
    await jobs.ask(kind, {}, { lane: 'a' });
    const none1 = await jobs.ask(kind, {});
    const none2 = await jobs.ask(kind, {});
    const b1 = await jobs.ask(kind, {}, { lane: 'b' });
    expect(await claim(3)).toEqual([a1, none1, none2]);
    expect(await claim(3)).toEqual([b1]);
    expect(await claim(3)).toEqual([]);
  });

  it('takes nothing from a lane in which a later job runs already', async () => {
    // As if the transaction with the earlier row committed after the later one was claimed.
    const earlier = await jobs.ask(kind, {}, { lane: 'a' });
    const later = await jobs.ask(kind, {}, { lane: 'a' });
    await setState(earlier, 'cancelled');
    expect(await claim()).toEqual([later]);
    await setState(earlier, 'queued');
    expect(await claim()).toEqual([]);
    await setState(later, 'succeeded');
    expect(await claim()).toEqual([earlier]);
  });

  it('gives each job to one of many concurrent claims, and never two of a lane', async () => {
    for (let n = 0; n < 40; n++) await jobs.ask(kind, {}, { lane: `lane ${n % 10}` });
    const claims = await Promise.allSettled(Array.from({ length: 12 }, () => claim(3, crypto.randomUUID())));
    for (const one of claims) {
      if (one.status === 'rejected') expect(uniqueViolation(one.reason)).toBe('jobs.lane');
    }
    const ids = claims.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    expect(new Set(ids).size).toBe(ids.length);
    const lanes = await Promise.all(ids.map(async (id) => (await jobs.row(id)).lane));
    expect(new Set(lanes).size).toBe(lanes.length);
    expect(ids.length).toBeGreaterThan(0);
  });

  it('cannot break the rule of one running job for each lane', async () => {
    const ids = [await jobs.ask(kind, {}, { lane: 'a' }), await jobs.ask(kind, {}, { lane: 'a' })];
    const outcomes = await Promise.allSettled(ids.map((id) => setState(id, 'running')));
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused.map((outcome) => uniqueViolation(outcome.reason))).toEqual(['jobs.lane']);
  });
});

describe('a lease', () => {
  it('is renewed for its holder only', async () => {
    const id = await jobs.ask(kind, {});
    await claim();
    const until = timestamp(jobs.clock, 20_000);
    const renew = (workerId: string) =>
      jobs.database.write(({ queries }) => renewLeases(queries, workerId, [id], until));
    expect(await renew(crypto.randomUUID())).toEqual([]);
    expect(await renew(me)).toEqual([{ id, attempt: 1, calledOff: false }]);
    expect((await jobs.row(id)).lease_until).toBe(until);
  });

  it('is worthless to a worker that returned the job, even if the next attempt has the same number', async () => {
    const id = await jobs.ask(kind, {});
    const end = (workerId: string, state: 'handed back' | 'succeeded') =>
      jobs.database.write(({ queries }) =>
        endAttempt(queries, { jobId: id, workerId, attempt: 1 }, { state, now: timestamp(jobs.clock) }),
      );
    await claim();
    await end(me, 'handed back');
    const next = crypto.randomUUID();
    expect(await claim(1, next)).toEqual([id]);
    expect((await jobs.row(id)).attempt).toBe(1);
    await expect(end(me, 'handed back')).rejects.toBeInstanceOf(LeaseLost);
    await expect(end(me, 'succeeded')).rejects.toBeInstanceOf(LeaseLost);
    await end(next, 'succeeded');
    expect((await jobs.row(id)).state).toBe('succeeded');
  });

  it('that lapsed can be ended by the worker that found it, unless it was renewed since', async () => {
    const id = await jobs.ask(kind, {});
    await claim();
    jobs.clock.advance(10_000);
    const find = () => findLapsed(jobs.database.reader, ['test'], timestamp(jobs.clock));
    expect(await find()).toEqual([]);
    jobs.clock.advance(1);
    const [lapsed] = await find();
    if (lapsed === undefined) throw new Error('the lapsed lease was not found');
    expect(lapsed.job).toMatchObject({ id, attempt: 1, maxAttempts: 3 });
    expect(await findLapsed(jobs.database.reader, ['other'], timestamp(jobs.clock))).toEqual([]);

    const end = () =>
      jobs.database.write(({ queries }) =>
        endAttempt(queries, lapsed.lease, {
          state: 'queued',
          runAt: timestamp(jobs.clock),
          error: 'lapsed',
          code: 'failed',
          reason: 'It failed.',
        }),
      );
    await jobs.database.write(({ queries }) => renewLeases(queries, me, [id], timestamp(jobs.clock, 10_000)));
    await expect(end()).rejects.toBeInstanceOf(LeaseLost);
    jobs.clock.advance(10_001);
    const [again] = await find();
    expect(again?.job.id).toBe(id);
    lapsed.lease.lapsedBefore = timestamp(jobs.clock);
    await end();
    expect(await jobs.row(id)).toMatchObject({ state: 'queued', error: 'lapsed', worker_id: null });
    await expect(end()).rejects.toBeInstanceOf(LeaseLost);
  });
});
