import Type from 'typebox';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type JobsFixture, openJobsFixture, until } from '../../test/jobs.ts';
import type { Transaction } from '../database/database.ts';
import { defineJob, type JobKind, PermanentFailure } from './job.ts';
import { createQueue } from './queue.ts';
import { liveWorkers, type Worker } from './worker.ts';

let jobs: JobsFixture;
beforeAll(async () => {
  jobs = await openJobsFixture();
});
afterEach(async () => {
  await jobs.clear();
  await jobs.database.write(({ queries }) => queries.deleteFrom('rate_windows').execute());
});
afterAll(() => jobs.remove());

const Numbered = Type.Object({ n: Type.Integer() });

/** A kind whose work is `run`; everything else is of no interest. */
function kindOf(
  run: JobKind<typeof Numbered>['run'],
  more: Partial<JobKind<typeof Numbered>> = {},
): JobKind<typeof Numbered> {
  return defineJob({ name: 'test', payload: Numbered, maxAttempts: 5, timeoutMs: 30_000, ...more, run });
}

/** A database effect that shows if it happened twice: the row's number grows. */
async function addEffect(transaction: Transaction, key: string): Promise<void> {
  await transaction.queries
    .insertInto('rate_windows')
    .values({ key, window_start: '2026-01-01T00:00:00.000Z', taken: 1 })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => ({ taken: eb('rate_windows.taken', '+', 1) })),
    )
    .execute();
}

async function effects(): Promise<Record<string, number>> {
  const rows = await jobs.database.reader.selectFrom('rate_windows').select(['key', 'taken']).execute();
  return Object.fromEntries(rows.map((row) => [row.key, row.taken]));
}

function gate(): { opened: Promise<void>; open(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { opened: promise, open: resolve };
}

/** A worker without heartbeat that has begun attempt number `attempt` of a job whose earlier lease has lapsed. */
async function startAndHang(kind: JobKind, id: string, attempt: number, pollMs: number): Promise<Worker> {
  jobs.clock.advance(10_001);
  const worker = jobs.worker([kind], { heartbeatMs: NEVER, pollMs });
  await until(async () => expect(await jobs.row(id)).toMatchObject({ state: 'running', attempt }));
  return worker;
}

const NEVER = 600_000;
const SOON = 10;
const LOST = 'lost its lease; what it did is not counted';
const messages = () => jobs.lines.map((line) => line.msg);

describe('a worker', () => {
  it('does a job and writes its completion, and logs start and success with the ids', async () => {
    const seen: unknown[] = [];
    const kind = kindOf(async (payload, job) => {
      seen.push(payload, job.attempt, job.requestId);
      return (transaction) => addEffect(transaction, 'done');
    });
    const worker = jobs.worker([kind]);
    const id = await jobs.ask(kind, { n: 7 }, { lane: 'a', requestId: 'r-1' });
    await worker.idle();
    expect(seen).toEqual([{ n: 7 }, 1, 'r-1']);
    expect(await effects()).toEqual({ done: 1 });
    expect(await jobs.queue.find(id)).toEqual({ state: 'succeeded', error: null, attempt: 1 });
    const ids = { job: id, kind: 'test', request_id: 'r-1', worker: worker.id };
    expect(jobs.lines).toEqual([
      expect.objectContaining({ level: 20, msg: 'started', ...ids }),
      expect.objectContaining({ level: 30, msg: 'succeeded', duration_ms: 0, ...ids }),
    ]);
  });

  it('does the jobs of a lane one at a time and in order, beside those of other lanes', async () => {
    const order: Record<string, number[]> = { a: [], b: [], c: [] };
    const running = new Set<string>();
    const kind = defineJob({
      name: 'test',
      payload: Type.Object({ lane: Type.String(), n: Type.Integer() }),
      maxAttempts: 1,
      timeoutMs: 30_000,
      async run({ lane, n }) {
        expect(running.has(lane)).toBe(false);
        running.add(lane);
        await new Promise((resolve) => setTimeout(resolve, 2));
        order[lane]?.push(n);
        running.delete(lane);
      },
    });
    for (const n of [1, 2, 3, 4, 5]) {
      for (const lane of ['a', 'b', 'c']) await jobs.ask(kind, { lane, n }, { lane });
    }
    const workers = [jobs.worker([kind]), jobs.worker([kind])];
    await until(async () => {
      await Promise.all(workers.map((worker) => worker.idle()));
      expect(order).toEqual({ a: [1, 2, 3, 4, 5], b: [1, 2, 3, 4, 5], c: [1, 2, 3, 4, 5] });
    });
    expect(messages()).not.toContain('failed; it is tried again');
  });

  it('runs as many at once as it may, and no more', async () => {
    const { opened, open } = gate();
    let now = 0;
    let most = 0;
    const kind = kindOf(async () => {
      most = Math.max(most, ++now);
      await opened;
      now--;
    });
    const worker = jobs.worker([kind], { concurrency: 3 });
    for (let n = 0; n < 8; n++) await jobs.ask(kind, { n }, { lane: n % 2 === 0 ? `lane ${n}` : null });
    await until(() => expect(now).toBe(3));
    open();
    await worker.idle();
    expect(most).toBe(3);
    expect(messages().filter((message) => message === 'succeeded')).toHaveLength(8);
  });

  it('begins at once what its own process enqueues, and nothing that was rolled back', async () => {
    const seen: number[] = [];
    const kind = kindOf(async ({ n }) => {
      seen.push(n);
    });
    const worker = jobs.worker([kind], { pollMs: NEVER });
    await worker.idle();
    const undone = jobs.database.write(async (transaction) => {
      await jobs.queue.enqueue(transaction, kind, { payload: { n: 1 }, lane: null });
      throw new Error('changed my mind');
    });
    await expect(undone).rejects.toThrow('changed my mind');
    await jobs.ask(kind, { n: 2 });
    await until(() => expect(seen).toEqual([2]));
  });

  it('finds what another process enqueued at its next poll', async () => {
    const seen: number[] = [];
    const kind = kindOf(async ({ n }) => {
      seen.push(n);
    });
    jobs.worker([kind], { pollMs: 10 });
    const elsewhere = createQueue(jobs.database, jobs.clock, jobs.random);
    await jobs.database.write((transaction) =>
      elsewhere.enqueue(transaction, kind, { payload: { n: 3 }, lane: null }),
    );
    await until(() => expect(seen).toEqual([3]));
  });

  it('does not begin a delayed job before its time', async () => {
    const kind = kindOf(async () => {});
    const worker = jobs.worker([kind]);
    const id = await jobs.ask(kind, { n: 1 }, { delayMs: 60_000 });
    jobs.clock.advance(59_999);
    await worker.idle();
    expect((await jobs.row(id)).state).toBe('queued');
    jobs.clock.advance(1);
    await worker.idle();
    expect((await jobs.row(id)).state).toBe('succeeded');
  });

  it('leaves kinds that it does not know to others, and names them after a minute', async () => {
    const known = kindOf(async () => {});
    const newer = kindOf(async () => {}, { name: 'from_a_newer_version' });
    const worker = jobs.worker([known]);
    const id = await jobs.ask(newer, { n: 1 });
    await worker.idle();
    jobs.clock.advance(61_000);
    await worker.idle();
    jobs.clock.advance(61_000);
    await worker.idle();
    expect((await jobs.row(id)).state).toBe('queued');
    const warnings = jobs.lines.filter((line) => line.level === 40);
    expect(warnings).toEqual([expect.objectContaining({ kind: 'from_a_newer_version', jobs: 1 })]);
    await jobs.worker([newer]).idle();
    expect((await jobs.row(id)).state).toBe('succeeded');
  });

  it('is listed while it lives', async () => {
    const worker = jobs.worker([kindOf(async () => {})]);
    await worker.idle();
    const live = await liveWorkers(jobs.database, jobs.clock);
    expect(live).toEqual([
      { id: worker.id, process: expect.stringMatching(/:\d+$/), seenAt: jobs.clock.now().toISOString() },
    ]);
    jobs.clock.advance(10_001);
    expect(await liveWorkers(jobs.database, jobs.clock)).toEqual([]);
    await worker.idle();
    expect(await liveWorkers(jobs.database, jobs.clock)).toHaveLength(1);
    await worker.stop(0);
    expect(await liveWorkers(jobs.database, jobs.clock)).toEqual([]);
  });

  it('refuses kinds that it could not tell apart, and none at all', () => {
    const kind = kindOf(async () => {});
    expect(() => jobs.worker([kind, kind])).toThrow('same name');
    expect(() => jobs.worker([])).toThrow('at least one kind');
  });
});

describe('a job that fails', () => {
  it('is tried again after 1 s, 2 s, 4 s, and holds up its lane and no other', async () => {
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
    const warnings = jobs.lines.filter((line) => line.level === 40);
    expect(warnings.map((line) => line.retry_in_ms)).toEqual([1_000, 2_000, 4_000]);
    expect(warnings[0]?.err).toMatchObject({ message: 'not yet' });
  });

  it('is given up when its attempts are used up, in the transaction that marks it failed', async () => {
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
    expect(await effects()).toEqual({});
    jobs.clock.advance(1_000);
    await worker.idle();
    expect(await effects()).toEqual({
      '5 2 It failed unexpectedly; the operator finds the cause in the log.': 1,
    });
    const row = await jobs.row(id);
    expect(row).toMatchObject({ state: 'failed', error: 'Error: no route to postgres://***@db', attempt: 2 });
    expect(row.finished_at).toBe(jobs.clock.now().toISOString());
    expect(jobs.lines.at(-1)).toMatchObject({ level: 50, msg: 'gave up', job: id });
  });

  it('is given up at once if trying again will not help', async () => {
    const reasons: unknown[] = [];
    const kind = kindOf(
      async () => {
        throw new PermanentFailure('The bucket does not exist.\nsecond line', { cause: new Error('404') });
      },
      { giveUp: async (_payload, failure) => void reasons.push(failure) },
    );
    const id = await jobs.ask(kind, { n: 1 });
    await jobs.worker([kind]).idle();
    expect(reasons).toEqual([{ reason: 'The bucket does not exist.', attempts: 1 }]);
    expect(await jobs.queue.find(id)).toEqual({
      state: 'failed',
      error: 'The bucket does not exist.; caused by Error: 404',
      attempt: 1,
    });
  });

  it('fails all the same if giving it up fails, and blocks nobody', async () => {
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
    expect(await effects()).toEqual({});
    expect(await Promise.all(ids.map(async (id) => (await jobs.row(id)).state))).toEqual([
      'failed',
      'succeeded',
    ]);
    expect(messages().filter((message) => message === 'giving the job up failed')).toHaveLength(3);
  });

  it('fails at once if its payload does not fit the schema any more', async () => {
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

  it('is aborted when it takes too long, which counts as a failure', async () => {
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

  it('does not hold its place for ever if it does not listen to its signal', async () => {
    const { opened, open } = gate();
    const kind = kindOf(() => opened, { timeoutMs: 10, maxAttempts: 1 });
    const worker = jobs.worker([kind], { abortGraceMs: 10 });
    const id = await jobs.ask(kind, { n: 1 });
    await worker.idle();
    expect((await jobs.row(id)).state).toBe('failed');
    expect(messages()).toContain('the job goes on although its signal aborted');
    open();
  });
});

describe('a completion', () => {
  it('that throws leaves nothing, and the attempt counts as failed', async () => {
    const kind = kindOf(async (_payload, { attempt }) => async (transaction) => {
      await addEffect(transaction, 'effect');
      if (attempt === 1) throw new Error('a rule was broken');
    });
    const worker = jobs.worker([kind]);
    const id = await jobs.ask(kind, { n: 1 });
    await worker.idle();
    expect(await effects()).toEqual({});
    expect(await jobs.queue.find(id)).toMatchObject({ state: 'queued', error: 'Error: a rule was broken' });
    jobs.clock.advance(1_000);
    await worker.idle();
    expect(await effects()).toEqual({ effect: 1 });
    expect((await jobs.row(id)).state).toBe('succeeded');
  });

  it('is refused when another worker took the job over meanwhile, whether that one is done or not', async () => {
    const gates = [gate(), gate()];
    const kind = kindOf(async (_payload, { attempt }) => {
      await gates[attempt - 1]?.opened;
      return (transaction) => addEffect(transaction, `by attempt ${attempt}`);
    });
    const id = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    const workers = [await startAndHang(kind, id, 1, NEVER), await startAndHang(kind, id, 2, SOON)];
    expect((await jobs.row(id)).worker_id).toBe(workers[1]?.id);
    gates[0]?.open();
    await until(() => expect(messages()).toContain(LOST));
    expect(await effects()).toEqual({});
    expect(await jobs.row(id)).toMatchObject({ state: 'running', attempt: 2 });
    gates[1]?.open();
    await until(async () => expect((await jobs.row(id)).state).toBe('succeeded'));
    expect(await effects()).toEqual({ 'by attempt 2': 1 });
  });

  it('is refused when the same worker began the job again meanwhile', async () => {
    const gates = [gate(), gate()];
    const kind = kindOf(async (_payload, { attempt }) => {
      await gates[attempt - 1]?.opened;
      return (transaction) => addEffect(transaction, `by attempt ${attempt}`);
    });
    const id = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    await startAndHang(kind, id, 1, SOON);
    // Somebody else found the lease lapsed, and the worker claims the job anew before its own next heartbeat.
    await jobs.database.write(({ queries }) =>
      queries.updateTable('jobs').set({ state: 'queued', worker_id: null, lease_until: null }).execute(),
    );
    await until(async () => expect(await jobs.row(id)).toMatchObject({ state: 'running', attempt: 2 }));
    gates[0]?.open();
    await until(() => expect(messages()).toContain(LOST));
    expect((await jobs.row(id)).state).toBe('running');
    gates[1]?.open();
    await until(async () => expect((await jobs.row(id)).state).toBe('succeeded'));
    expect(await effects()).toEqual({ 'by attempt 2': 1 });
  });
});

describe('a failure', () => {
  it('is refused as well when another worker has the job by now', async () => {
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
    await until(() => expect(messages()).toContain(LOST));
    expect(await jobs.row(id)).toMatchObject({ state: 'running', attempt: 2 });
    gates[1]?.open();
    await until(async () => expect((await jobs.row(id)).state).toBe('succeeded'));
    expect(await effects()).toEqual({});
  });
});

describe('a lease', () => {
  it('is kept by the heartbeat for as long as the job runs', async () => {
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

  it('that was lost aborts the job', async () => {
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
      queries
        .updateTable('jobs')
        .set({ worker_id: crypto.randomUUID(), attempt: 2 })
        .where('id', '=', id)
        .execute(),
    );
    await until(() => expect(messages()).toContain(LOST));
    expect(aborted).toEqual([expect.objectContaining({ name: 'LeaseLost' })]);
    expect(await effects()).toEqual({});
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
      { reason: 'The process that worked on it ended before the work did.', attempts: 1 },
    ]);
    open();
  });
});

describe('cancelling a lane', () => {
  it('takes back what waits, and lets go on what runs', async () => {
    const { opened, open } = gate();
    const kind = kindOf(() => opened);
    const worker = jobs.worker([kind]);
    const running = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    const waiting = await jobs.ask(kind, { n: 2 }, { lane: 'a' });
    const other = await jobs.ask(kind, { n: 3 }, { lane: 'b', delayMs: 1_000 });
    await until(async () => expect((await jobs.row(running)).state).toBe('running'));
    await jobs.database.write((transaction) => jobs.queue.cancelLane(transaction, 'a'));
    open();
    await worker.idle();
    expect((await jobs.row(running)).state).toBe('succeeded');
    expect(await jobs.row(waiting)).toMatchObject({
      state: 'cancelled',
      finished_at: jobs.clock.now().toISOString(),
    });
    expect((await jobs.row(other)).state).toBe('queued');
  });
});

describe('stopping a worker', () => {
  it('waits for what is under way and begins nothing new', async () => {
    const { opened, open } = gate();
    const kind = kindOf(() => opened);
    const worker = jobs.worker([kind], { concurrency: 1 });
    const under = await jobs.ask(kind, { n: 1 });
    const next = await jobs.ask(kind, { n: 2 });
    await until(async () => expect((await jobs.row(under)).state).toBe('running'));
    const stopped = worker.stop(30_000);
    open();
    await stopped;
    expect((await jobs.row(under)).state).toBe('succeeded');
    expect((await jobs.row(next)).state).toBe('queued');
    await worker.idle();
  });

  it('hands back what does not end in time; the attempt does not count', async () => {
    const { opened } = gate();
    const kind = kindOf(async (_payload, { signal }) => {
      await Promise.race([
        opened,
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      ]);
    });
    const id = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    const worker = jobs.worker([kind]);
    await until(async () => expect((await jobs.row(id)).state).toBe('running'));
    await worker.stop(10);
    expect(await jobs.row(id)).toMatchObject({
      state: 'queued',
      attempt: 0,
      worker_id: null,
      lease_until: null,
    });
    expect(messages()).toContain('handed back');
  });

  it('hands back at once what it was claiming when it was told to stop', async () => {
    const { opened, open } = gate();
    let slow = false;
    let ran = false;
    const database: JobsFixture['database'] = {
      ...jobs.database,
      write: async (work) => {
        const result = await jobs.database.write(work);
        if (slow) await opened;
        return result;
      },
    };
    const kind = kindOf(async () => {
      ran = true;
    });
    const worker = jobs.worker([kind], { database, pollMs: NEVER });
    await worker.idle();
    slow = true;
    const id = await jobs.ask(kind, { n: 1 });
    await until(async () => expect((await jobs.row(id)).state).toBe('running'));
    const stopped = worker.stop(0);
    open();
    await stopped;
    expect(await jobs.row(id)).toMatchObject({ state: 'queued', attempt: 0 });
    expect(ran).toBe(false);
  });

  it('leaves what does not stop to whoever finds its lapsed lease, so that it never runs twice at once', async () => {
    const { opened, open } = gate();
    const kind = kindOf(async (_payload, { attempt }) => {
      if (attempt === 1) await opened;
    });
    const id = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    const worker = jobs.worker([kind], { abortGraceMs: 10 });
    await until(async () => expect((await jobs.row(id)).state).toBe('running'));
    await worker.stop(10);
    const successor = jobs.worker([kind]);
    await successor.idle();
    expect((await jobs.row(id)).state).toBe('running');
    jobs.clock.advance(10_001);
    await successor.idle();
    expect(await jobs.row(id)).toMatchObject({ state: 'succeeded', attempt: 2 });
    open();
  });
});

describe('a database that does not answer', () => {
  /** The fixture's database, whose writing fails or hangs on command. */
  function fragile() {
    const state: { is: 'up' | 'down' | 'hanging' } = { is: 'up' };
    const broken = Promise.withResolvers<never>();
    broken.promise.catch(() => {});
    const database: JobsFixture['database'] = {
      ...jobs.database,
      write: (work) => {
        if (state.is === 'down') return Promise.reject(new Error('connection refused'));
        if (state.is === 'hanging') return broken.promise;
        return jobs.database.write(work);
      },
    };
    return { state, database, breakHanging: () => broken.reject(new Error('connection terminated')) };
  }

  it('is named in the log once, and the worker goes on when it answers again', async () => {
    const { state, database } = fragile();
    state.is = 'down';
    const kind = kindOf(async () => {});
    const id = await jobs.ask(kind, { n: 1 });
    jobs.worker([kind], { database, pollMs: 5, heartbeatMs: 5 });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const errors = () => jobs.lines.filter((line) => line.level === 50).map((line) => line.msg);
    expect(errors().sort()).toEqual([
      'could not claim jobs; trying again until it works',
      'could not keep the leases of jobs; trying again until it works',
    ]);
    state.is = 'up';
    await until(async () => expect((await jobs.row(id)).state).toBe('succeeded'));
    expect(errors()).toHaveLength(2);
    expect(messages()).toContain('could claim jobs again');
  });

  it('is waited for with the outcome of a job, as long as the lease lasts', async () => {
    const { state, database } = fragile();
    const kind = kindOf(async () => {
      state.is = 'down';
      return (transaction) => addEffect(transaction, 'effect');
    });
    const id = await jobs.ask(kind, { n: 1 });
    jobs.worker([kind], { database });
    await until(() =>
      expect(messages()).toContainEqual(expect.stringMatching(/^could not write the outcome/)),
    );
    state.is = 'up';
    await until(async () => expect((await jobs.row(id)).state).toBe('succeeded'));
    expect(await effects()).toEqual({ effect: 1 });
    expect((await jobs.row(id)).attempt).toBe(1);
  });

  it('that refuses a claim, because another process took a job of the lane, is asked again', async () => {
    const kind = kindOf(async () => {});
    let refuses = false;
    const database: JobsFixture['database'] = {
      ...jobs.database,
      write: (work) =>
        jobs.database.write(async (transaction) => {
          if (refuses) {
            refuses = false;
            await transaction.queries.updateTable('jobs').set({ state: 'running' }).execute();
          }
          return work(transaction);
        }),
    };
    const worker = jobs.worker([kind], { database, pollMs: NEVER });
    await worker.idle();
    refuses = true;
    const ids = await jobs.database.write(async (transaction) => [
      await jobs.queue.enqueue(transaction, kind, { payload: { n: 1 }, lane: 'a' }),
      await jobs.queue.enqueue(transaction, kind, { payload: { n: 2 }, lane: 'a' }),
    ]);
    await until(async () => {
      const states = await Promise.all(ids.map(async (id) => (await jobs.row(id)).state));
      expect(states).toEqual(['succeeded', 'succeeded']);
    });
    expect(refuses).toBe(false);
    expect(jobs.lines.filter((line) => Number(line.level) >= 40)).toEqual([]);
  });

  it.each(['down', 'hanging'] as const)('costs a job its lease when it is %s for too long', async (fault) => {
    const { state, database, breakHanging } = fragile();
    const aborted = Promise.withResolvers<unknown>();
    const kind = kindOf(async (_payload, { signal, attempt }) => {
      if (attempt > 1) return;
      state.is = fault;
      aborted.resolve(
        await new Promise((resolve) => signal.addEventListener('abort', () => resolve(signal.reason))),
      );
    });
    const id = await jobs.ask(kind, { n: 1 });
    // A heartbeat may take a fifth of the lease, in real time.
    const worker = jobs.worker([kind], { database, leaseMs: 1_000, heartbeatMs: 20 });
    await until(() => expect(state.is).toBe(fault));
    jobs.clock.advance(1_001);
    expect(await aborted.promise).toMatchObject({ name: 'LeaseLost' });
    expect(messages()).toContain('could not keep the leases of jobs; trying again until it works');
    state.is = 'up';
    breakHanging();
    await until(async () => {
      await worker.idle();
      expect(await jobs.row(id)).toMatchObject({ state: 'succeeded', attempt: 2 });
    });
  });
});
