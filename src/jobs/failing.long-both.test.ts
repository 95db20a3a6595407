import Type, { type TSchema } from 'typebox';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addEffect, gate, type JobsFixture, kindOf, openJobsFixture } from '../../test/jobs.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import { unexpected } from './failure.ts';
import { defineJob, type JobKind, PermanentFailure, Postponed } from './job.ts';

let jobs: JobsFixture;
beforeAll(async () => {
  jobs = await openJobsFixture();
});
afterEach(() => jobs.clear());
afterAll(() => jobs.remove());

describe('a job that fails', () => {
  it('is retried after 1 s, 2 s and 4 s, and blocks its lane and no other', async () => {
    const seen: string[] = [];
    const kind = kindOf(async ({ n }, { attempt }) => {
      seen.push(`${n}/${attempt}`);
      if (n === 1 && attempt < 4) throw new Error('not yet');
    });
    const worker = jobs.worker([kind]);
    const first = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    await jobs.ask(kind, { n: 2 }, { lane: 'a' });
    await jobs.ask(kind, { n: 3 }, { lane: 'b' });
    await worker.idle();
    expect(seen.sort()).toEqual(['1/1', '3/1']);
    expect(await jobs.queue.find(first)).toEqual({ state: 'queued', error: 'Error: not yet', attempt: 1 });
    expect((await jobs.row(first)).reason).toBe(unexpected(first));
    seen.length = 0;
    for (const [delay, attempt] of [
      [1_000, 2],
      [2_000, 3],
    ] as const) {
      jobs.clock.advance(delay - 1);
      await worker.idle();
      expect(seen).toEqual([]);
      jobs.clock.advance(1);
      await worker.idle();
      expect(seen.splice(0)).toEqual([`1/${attempt}`]);
    }
    jobs.clock.advance(4_000);
    await worker.idle();
    expect(seen).toEqual(['1/4', '2/1']);
    expect(await jobs.row(first)).toMatchObject({ state: 'succeeded', error: null, reason: null });
    const warnings = jobs.lines.filter((line) => line.level === 40);
    expect(warnings.map((line) => line.retry_in_ms)).toEqual([1_000, 2_000, 4_000]);
    expect(warnings[0]?.err).toMatchObject({ message: 'not yet' });
  });

  it('is given up after its last attempt, in the transaction that marks it failed', async () => {
    const kind = kindOf(
      async () => {
        throw new Error('no route to postgres://me:secret@db\nat line 2');
      },
      {
        maxAttempts: 2,
        async giveUp({ n }, failure, transaction) {
          await addEffect(transaction, `${n} ${failure.attempts} ${failure.reason}`);
        },
      },
    );
    const worker = jobs.worker([kind]);
    const id = await jobs.ask(kind, { n: 5 });
    await worker.idle();
    expect(await jobs.effects()).toEqual({});
    jobs.clock.advance(1_000);
    await worker.idle();
    expect(await jobs.effects()).toEqual({
      [`5 2 ${unexpected(id)}`]: 1,
    });
    const row = await jobs.row(id);
    expect(row).toMatchObject({
      state: 'failed',
      error: 'Error: no route to postgres://***@db',
      reason: unexpected(id),
      attempt: 2,
    });
    expect(row.finished_at).toBe(jobs.clock.now().toISOString());
    expect(jobs.lines.at(-1)).toMatchObject({ level: 50, msg: 'gave up', job: id });
  });

  it('is postponed while a dependency is unreachable, uncounted, for at most 30 s at a time', async () => {
    const began: number[] = [];
    let isAway = true;
    const start = jobs.clock.now().getTime();
    const kind = kindOf(
      async (_payload, { attempt }) => {
        began.push(jobs.clock.now().getTime() - start);
        expect(attempt).toBe(1);
        if (isAway) throw new Postponed('The host is away.', { cause: new Error('nothing listens') });
      },
      { maxAttempts: 1 },
    );
    const worker = jobs.worker([kind]);
    const id = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    const next = await jobs.ask(kind, { n: 2 }, { lane: 'a' });
    await worker.idle();
    expect(await jobs.queue.find(id)).toEqual({
      state: 'queued',
      error: 'The host is away.; caused by Error: nothing listens',
      attempt: 0,
    });
    expect(await jobs.row(id)).toMatchObject({
      worker_id: null,
      lease_until: null,
      reason: 'The host is away.',
    });
    for (let i = 0; i < 200; i++) {
      jobs.clock.advance(500);
      await worker.idle();
    }
    expect(began).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 57_000, 82_000]);
    expect((await jobs.row(next)).state).toBe('queued');
    isAway = false;
    jobs.clock.advance(30_000);
    await worker.idle();
    expect(await jobs.queue.find(id)).toEqual({ state: 'succeeded', error: null, attempt: 1 });
    expect((await jobs.row(next)).state).toBe('succeeded');
  });

  it('counts its attempts once the patience of its kind is used up', async () => {
    const reasons: unknown[] = [];
    const away = (more: Partial<JobKind<TSchema>>) =>
      defineJob({
        payload: Type.Object({}),
        maxAttempts: 2,
        timeoutMs: 1_000,
        run: () => Promise.reject(new Postponed('The host is away.')),
        giveUp: async (_payload, failure) => void reasons.push(failure),
        name: '',
        ...more,
      });
    const kinds = [
      away({ name: 'hour', patienceMs: HOUR_MS }),
      away({ name: 'days' }),
      away({ name: 'ever', patienceMs: Number.POSITIVE_INFINITY }),
    ];
    const ids: string[] = [];
    for (const kind of kinds) ids.push(await jobs.ask(kind, {}));
    const worker = jobs.worker(kinds);
    const pass = async (ms: number) => {
      jobs.clock.advance(ms);
      // Two more attempts, the second one a second later.
      await worker.idle();
      jobs.clock.advance(1_000);
      await worker.idle();
      return Promise.all(ids.map(async (id) => (await jobs.row(id)).state));
    };
    expect(await pass(3_590_000)).toEqual(['queued', 'queued', 'queued']);
    expect(reasons).toEqual([]);
    expect(await pass(60_000)).toEqual(['failed', 'queued', 'queued']);
    expect(reasons).toEqual([{ code: 'waiting', reason: 'The host is away.', attempts: 2, jobId: ids[0] }]);
    expect(await pass(3 * DAY_MS)).toEqual(['failed', 'failed', 'queued']);
    expect(await pass(365 * DAY_MS)).toEqual(['failed', 'failed', 'queued']);
  });

  it('is given up at once if retries do not help', async () => {
    const reasons: unknown[] = [];
    const kind = kindOf(
      async () => {
        throw new PermanentFailure('The bucket does not exist.\nsecond line', { cause: new Error('404') });
      },
      { giveUp: async (_payload, failure) => void reasons.push(failure) },
    );
    const id = await jobs.ask(kind, { n: 1 });
    await jobs.worker([kind]).idle();
    expect(reasons).toEqual([
      { code: 'failed', reason: 'The bucket does not exist.', attempts: 1, jobId: id },
    ]);
    expect(await jobs.queue.find(id)).toEqual({
      state: 'failed',
      error: 'The bucket does not exist.; caused by Error: 404',
      attempt: 1,
    });
  });

  it('fails even if giving it up fails, and blocks no other job', async () => {
    let tried = 0;
    const kind = kindOf(
      async ({ n }) => {
        if (n === 1) throw new PermanentFailure('No.');
      },
      {
        async giveUp(_payload, _failure, transaction) {
          tried++;
          await addEffect(transaction, 'half');
          throw new Error('a fault of ours');
        },
      },
    );
    const worker = jobs.worker([kind]);
    const ids = [
      await jobs.ask(kind, { n: 1 }, { lane: 'a' }),
      await jobs.ask(kind, { n: 2 }, { lane: 'a' }),
    ];
    await worker.idle();
    expect(tried).toBe(3);
    expect(await jobs.effects()).toEqual({});
    expect(await Promise.all(ids.map(async (id) => (await jobs.row(id)).state))).toEqual([
      'failed',
      'succeeded',
    ]);
    expect(jobs.messages().filter((message) => message === 'giving the job up failed')).toHaveLength(3);
  });

  it('fails at once if its payload no longer fits the schema', async () => {
    let called = 0;
    const old = defineJob({
      name: 'test',
      payload: Type.Object({ n: Type.String() }),
      maxAttempts: 5,
      timeoutMs: 1_000,
      run: async () => {},
    });
    const id = await jobs.ask(old, { n: 'a secret' });
    const kind = kindOf(async () => void called++, { giveUp: async () => void called++ });
    await jobs.worker([kind]).idle();
    expect(called).toBe(0);
    expect(await jobs.queue.find(id)).toEqual({
      state: 'failed',
      error: 'The request was stored in a form that this version does not understand (/n must be integer).',
      attempt: 1,
    });
  });

  it('is aborted at its timeout, which counts as a failure', async () => {
    const aborted: unknown[] = [];
    const kind = kindOf(
      (_payload, { signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            aborted.push(signal.reason);
            reject(new Error('interrupted'));
          });
        }),
      { timeoutMs: 20, maxAttempts: 2 },
    );
    const worker = jobs.worker([kind]);
    const id = await jobs.ask(kind, { n: 1 });
    await worker.idle();
    expect(aborted).toEqual([expect.objectContaining({ name: 'AttemptTimeout' })]);
    const error = 'AttemptTimeout: It took longer than 0.02 seconds.; caused by Error: interrupted';
    expect(await jobs.queue.find(id)).toEqual({ state: 'queued', error, attempt: 1 });
    jobs.clock.advance(1_000);
    await worker.idle();
    expect(await jobs.queue.find(id)).toEqual({ state: 'failed', error, attempt: 2 });
  });

  it('does not keep its slot for ever if it ignores its signal', async () => {
    const { opened, open } = gate();
    const kind = kindOf(() => opened, { timeoutMs: 10, maxAttempts: 1 });
    const worker = jobs.worker([kind], { abortGraceMs: 10 });
    const id = await jobs.ask(kind, { n: 1 });
    await worker.idle();
    expect((await jobs.row(id)).state).toBe('failed');
    expect(jobs.messages()).toContain('the job goes on although its signal aborted');
    open();
  });
});
