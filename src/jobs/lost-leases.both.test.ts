import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addEffect, gate, type JobsFixture, kindOf, NEVER, openJobsFixture, until } from '../../test/jobs.ts';
import { type JobKind, PermanentFailure } from './job.ts';
import type { Worker } from './worker.ts';

let jobs: JobsFixture;
beforeAll(async () => {
  jobs = await openJobsFixture();
});
afterEach(() => jobs.clear());
afterAll(() => jobs.remove());

/** A worker without heartbeats that starts attempt `attempt` of a job whose earlier lease has lapsed. */
async function startAndHang(kind: JobKind, id: string, attempt: number, pollMs: number): Promise<Worker> {
  jobs.clock.advance(10_001);
  const worker = jobs.worker([kind], { heartbeatMs: NEVER, pollMs });
  await until(async () => expect(await jobs.row(id)).toMatchObject({ state: 'running', attempt }));
  return worker;
}

const SOON = 10;
const LOST = 'lost its lease; what it did is not counted';

describe('a completion', () => {
  it('that throws leaves nothing, and the attempt counts as failed', async () => {
    const kind = kindOf(async (_payload, { attempt }) => async (transaction) => {
      await addEffect(transaction, 'effect');
      if (attempt === 1) throw new Error('a rule was broken');
    });
    const worker = jobs.worker([kind]);
    const id = await jobs.ask(kind, { n: 1 });
    await worker.idle();
    expect(await jobs.effects()).toEqual({});
    expect(await jobs.queue.find(id)).toMatchObject({ state: 'queued', error: 'Error: a rule was broken' });
    jobs.clock.advance(1_000);
    await worker.idle();
    expect(await jobs.effects()).toEqual({ effect: 1 });
    expect((await jobs.row(id)).state).toBe('succeeded');
  });

  it('is refused if another worker has claimed the job, whether that attempt is done or not', async () => {
    const gates = [gate(), gate()];
    const kind = kindOf(async (_payload, { attempt }) => {
      await gates[attempt - 1]?.opened;
      return (transaction) => addEffect(transaction, `by attempt ${attempt}`);
    });
    const id = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    const workers = [await startAndHang(kind, id, 1, NEVER), await startAndHang(kind, id, 2, SOON)];
    expect((await jobs.row(id)).worker_id).toBe(workers[1]?.id);
    gates[0]?.open();
    await until(() => expect(jobs.messages()).toContain(LOST));
    expect(await jobs.effects()).toEqual({});
    expect(await jobs.row(id)).toMatchObject({ state: 'running', attempt: 2 });
    gates[1]?.open();
    await until(async () => expect((await jobs.row(id)).state).toBe('succeeded'));
    expect(await jobs.effects()).toEqual({ 'by attempt 2': 1 });
  });

  it('is refused if the same worker has started the job again', async () => {
    const gates = [gate(), gate()];
    const kind = kindOf(async (_payload, { attempt }) => {
      await gates[attempt - 1]?.opened;
      return (transaction) => addEffect(transaction, `by attempt ${attempt}`);
    });
    const id = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    await startAndHang(kind, id, 1, SOON);
    // Another worker found the lease lapsed, and this one claims the job again before its own next heartbeat.
    await jobs.database.write(({ queries }) =>
      queries.updateTable('jobs').set({ state: 'queued', worker_id: null, lease_until: null }).execute(),
    );
    await until(async () => expect(await jobs.row(id)).toMatchObject({ state: 'running', attempt: 2 }));
    gates[0]?.open();
    await until(() => expect(jobs.messages()).toContain(LOST));
    expect((await jobs.row(id)).state).toBe('running');
    gates[1]?.open();
    await until(async () => expect((await jobs.row(id)).state).toBe('succeeded'));
    expect(await jobs.effects()).toEqual({ 'by attempt 2': 1 });
  });
});

describe('a failure', () => {
  it('is refused as well if another worker has the job by now', async () => {
    const gates = [gate(), gate()];
    const kind = kindOf(
      async (_payload, { attempt }) => {
        await gates[attempt - 1]?.opened;
        if (attempt === 1) throw new PermanentFailure('Too late to matter.');
      },
      { giveUp: (_payload, _failure, transaction) => addEffect(transaction, 'given up') },
    );
    const id = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    await startAndHang(kind, id, 1, NEVER);
    await startAndHang(kind, id, 2, SOON);
    gates[0]?.open();
    await until(() => expect(jobs.messages()).toContain(LOST));
    expect(await jobs.row(id)).toMatchObject({ state: 'running', attempt: 2 });
    gates[1]?.open();
    await until(async () => expect((await jobs.row(id)).state).toBe('succeeded'));
    expect(await jobs.effects()).toEqual({});
  });
});

describe('a lease', () => {
  it('is kept by the heartbeat while the job runs', async () => {
    const { opened, open } = gate();
    const kind = kindOf(() => opened);
    const id = await jobs.ask(kind, { n: 1 });
    jobs.worker([kind], { heartbeatMs: 5 });
    await until(async () => expect((await jobs.row(id)).state).toBe('running'));
    for (let step = 0; step < 5; step++) {
      jobs.clock.advance(6_000);
      const renewed = new Date(jobs.clock.now().getTime() + 10_000).toISOString();
      await until(async () => expect((await jobs.row(id)).lease_until).toBe(renewed));
    }
    open();
    await until(async () => expect((await jobs.row(id)).state).toBe('succeeded'));
    expect((await jobs.row(id)).attempt).toBe(1);
  });

  it.each([
    ['another worker', { worker_id: crypto.randomUUID(), attempt: 2 }],
    ['a later attempt of the same worker', { attempt: 2 }],
  ])('aborts the job when lost to %s', async (_to, change) => {
    const aborted: unknown[] = [];
    const kind = kindOf(
      (_payload, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            aborted.push(signal.reason);
            resolve((transaction) => addEffect(transaction, 'too late'));
          });
        }),
    );
    const id = await jobs.ask(kind, { n: 1 });
    jobs.worker([kind], { heartbeatMs: 10 });
    await until(async () => expect((await jobs.row(id)).state).toBe('running'));
    await jobs.database.write(({ queries }) =>
      queries.updateTable('jobs').set(change).where('id', '=', id).execute(),
    );
    await until(() => expect(jobs.messages()).toContain(LOST));
    expect(aborted).toEqual([expect.objectContaining({ name: 'LeaseLost' })]);
    expect(await jobs.effects()).toEqual({});
  });

  it('that lapses on the last attempt ends the job through giveUp', async () => {
    const { opened, open } = gate();
    const reasons: unknown[] = [];
    const kind = kindOf(() => opened, {
      maxAttempts: 1,
      giveUp: async (_payload, failure) => void reasons.push(failure),
    });
    const id = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    jobs.worker([kind], { heartbeatMs: NEVER });
    await until(async () => expect((await jobs.row(id)).state).toBe('running'));
    jobs.clock.advance(10_001);
    await jobs.worker([kind]).idle();
    expect((await jobs.row(id)).state).toBe('failed');
    expect(reasons).toEqual([
      {
        code: 'interrupted',
        reason: 'The process that worked on it ended before the work did.',
        attempts: 1,
        jobId: id,
      },
    ]);
    open();
  });
});
