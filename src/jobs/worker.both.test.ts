import { setTimeout as sleep } from 'node:timers/promises';
import Type from 'typebox';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addEffect, gate, type JobsFixture, kindOf, NEVER, openJobsFixture, until } from '../../test/jobs.ts';
import { defineJob, type JobKind, PermanentFailure, Postponed } from './job.ts';
import { createQueue } from './queue.ts';
import { liveWorkers } from './worker.ts';

let jobs: JobsFixture;
beforeAll(async () => {
  jobs = await openJobsFixture();
});
afterEach(() => jobs.clear());
afterAll(() => jobs.remove());

describe('a worker', () => {
  it('runs a job and stores its completion, and logs start and success with the ids', async () => {
    const seen: unknown[] = [];
    const kind = kindOf(async (payload, job) => {
      seen.push(payload, job.attempt, job.requestId);
      return (transaction) => addEffect(transaction, 'done');
    });
    const worker = jobs.worker([kind]);
    const id = await jobs.ask(kind, { n: 7 }, { lane: 'a', requestId: 'r-1' });
    await worker.idle();
    expect(seen).toEqual([{ n: 7 }, 1, 'r-1']);
    expect(await jobs.effects()).toEqual({ done: 1 });
    expect(await jobs.queue.find(id)).toEqual({ state: 'succeeded', error: null, attempt: 1 });
    const ids = { job: id, kind: 'test', request_id: 'r-1', worker: worker.id };
    expect(jobs.lines).toEqual([
      expect.objectContaining({ level: 20, msg: 'started', ...ids }),
      expect.objectContaining({ level: 30, msg: 'succeeded', duration_ms: 0, ...ids }),
    ]);
  });

  it('runs the jobs of a lane in order and one at a time, in parallel with other lanes', async () => {
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
    expect(jobs.messages()).not.toContain('failed; it is tried again');
  });

  it('runs as many jobs at once as its slots allow', async () => {
    const { opened, open } = gate();
    let now = 0;
    let most = 0;
    const kind = kindOf(async () => {
      most = Math.max(most, ++now);
      await opened;
      now--;
    });
    const worker = jobs.worker([kind], { concurrency: 4 });
    for (let n = 0; n < 8; n++) {
      await jobs.ask(kind, { n }, { lane: n % 2 === 0 ? `lane ${n}` : null, account: `account ${n}` });
    }
    await until(() => expect(now).toBe(3));
    open();
    await worker.idle();
    expect(most).toBe(3);
    expect(jobs.messages().filter((message) => message === 'succeeded')).toHaveLength(8);
  });

  it('starts jobs of its own process at once, and none that were rolled back', async () => {
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

  it('finds jobs of other processes at its next poll', async () => {
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

  it('begins a transaction only if a commit or the time may have made a job due, if the database tells of commits', async () => {
    const ran: number[] = [];
    const kind = kindOf(async ({ n }) => {
      ran.push(n);
    });
    let looks = 0;
    let writes = 0;
    const database: JobsFixture['database'] = {
      ...jobs.database,
      commitMark() {
        looks += 1;
        return jobs.database.commitMark();
      },
      write(transaction) {
        writes += 1;
        return jobs.database.write(transaction);
      },
    };
    jobs.worker([kind], { database, pollMs: 1, heartbeatMs: NEVER });
    await until(() => expect(looks).toBeGreaterThan(10));
    const before = { looks, writes };
    await until(() => expect(looks).toBeGreaterThan(before.looks + 20));
    // PostgreSQL does not tell.
    if (jobs.database.dialect === 'sqlite') expect(writes).toBe(before.writes);
    else expect(writes).toBeGreaterThan(before.writes);
    await jobs.database.write((transaction) =>
      createQueue(jobs.database, jobs.clock, jobs.random).enqueue(transaction, kind, {
        ...{ payload: { n: 1 }, lane: null, delayMs: 60_000 },
      }),
    );
    await until(() => expect(writes).toBeGreaterThan(before.writes));
    jobs.clock.advance(60_000);
    await until(() => expect(ran).toEqual([1]));
  });

  it('is not idle while the next of a lane waits, even if the previous one ends during the last look', async () => {
    const work = gate();
    const look = gate();
    let looks = Number.NEGATIVE_INFINITY;
    const database: JobsFixture['database'] = {
      ...jobs.database,
      async write(transaction) {
        const order = ++looks;
        const result = await jobs.database.write(transaction);
        if (order === 2) await look.opened;
        return result;
      },
    };
    const kind = kindOf(async ({ n }) => {
      if (n === 1) await work.opened;
    });
    const worker = jobs.worker([kind], { database, pollMs: NEVER, heartbeatMs: NEVER });
    const first = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    const second = await jobs.ask(kind, { n: 2 }, { lane: 'a' });
    await until(() => expect(jobs.messages()).toContain('started'));
    await jobs.database.write(async () => {});
    // The writes of idle() are a heartbeat and a look for jobs. The look finds the lane occupied and answers late.
    looks = 0;
    const idle = worker.idle();
    await until(() => expect(looks).toBe(2));
    await jobs.database.write(async () => {});
    work.open();
    await until(async () => expect((await jobs.row(first)).state).toBe('succeeded'));
    await until(() => expect(jobs.messages()).toContain('succeeded'));
    look.open();
    await idle;
    expect((await jobs.row(second)).state).toBe('succeeded');
  });

  it('does not start a delayed job before its time', async () => {
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

  it('leaves unknown kinds to others, and names them after a minute', async () => {
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

  it('runs a job that is ahead before those that wait in its lane, and after the running one', async () => {
    const order: number[] = [];
    const kind: JobKind = kindOf(async ({ n }) => {
      order.push(n);
      if (n > 1) return;
      await jobs.ask(kind, { n: 4 }, { lane: 'a', ahead: true });
      await jobs.ask(kind, { n: 5 }, { lane: 'a', ahead: true });
    });
    for (const n of [1, 2, 3]) await jobs.ask(kind, { n }, { lane: 'a' });
    await jobs.worker([kind]).idle();
    expect(order).toEqual([1, 4, 5, 2, 3]);
  });

  it('refuses kinds of the same name, and an empty list', () => {
    const kind = kindOf(async () => {});
    expect(() => jobs.worker([kind, kind])).toThrow('same name');
    expect(() => jobs.worker([])).toThrow('at least one kind');
  });
});

describe('cancelling a lane', () => {
  it('cancels queued jobs and lets the running one end', async () => {
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

describe('cancelling a running job', () => {
  it('aborts it at the next heartbeat and continues with its lane once it has ended', async () => {
    const { opened, open } = gate();
    const told: unknown[] = [];
    const kind = kindOf(
      async ({ n }, { signal }) => {
        if (n === 2) return;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        told.push(signal.reason);
        // Its cleanup takes longer than a stopping worker waits.
        await opened;
        signal.throwIfAborted();
      },
      { giveUp: async () => void told.push('given up') },
    );
    const worker = jobs.worker([kind], { heartbeatMs: 10, abortGraceMs: 20 });
    const running = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    await until(async () => expect((await jobs.row(running)).state).toBe('running'));
    const next = await jobs.database.write(async (transaction) => {
      await jobs.queue.cancelLane(transaction, 'a');
      return jobs.queue.enqueue(transaction, kind, { payload: { n: 2 }, lane: 'a' });
    });
    await until(() => expect(told).toEqual([expect.objectContaining({ name: 'CalledOff' })]));
    await sleep(100);
    expect((await jobs.row(running)).state).toBe('running');
    expect((await jobs.row(next)).state).toBe('queued');
    open();
    await worker.idle();
    expect(await jobs.row(running)).toMatchObject({
      state: 'cancelled',
      finished_at: jobs.clock.now().toISOString(),
      lease_until: null,
    });
    expect((await jobs.row(next)).state).toBe('succeeded');
    expect(told).toHaveLength(1);
  });

  it.each([
    ['would be tried again', new Error('the disk is full')],
    ['is permanent', new PermanentFailure('The install has no website to back up.')],
    ['postpones it', new Postponed('The host is away.')],
  ])(
    'cancels it quietly if its attempt fails before the heartbeat, in a way that %s',
    async (_way, error) => {
      const given: unknown[] = [];
      const kind = kindOf(
        async () => {
          await jobs.database.write((transaction) => jobs.queue.cancelLane(transaction, 'a'));
          throw error;
        },
        { giveUp: async () => void given.push('up') },
      );
      const id = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
      await jobs.worker([kind]).idle();
      expect(await jobs.row(id)).toMatchObject({
        state: 'cancelled',
        finished_at: jobs.clock.now().toISOString(),
        lease_until: null,
      });
      expect(given).toEqual([]);
      expect(jobs.lines.filter(({ level }) => Number(level) > 30)).toEqual([]);
    },
  );

  it('stays cancelled if its worker died', async () => {
    const given: unknown[] = [];
    const kind = kindOf(async () => {}, { giveUp: async () => void given.push('up') });
    const id = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    await jobs.database.write(({ queries }) =>
      queries
        .updateTable('jobs')
        .set({
          state: 'running',
          attempt: 1,
          worker_id: crypto.randomUUID(),
          lease_until: jobs.clock.now().toISOString(),
        })
        .where('id', '=', id)
        .execute(),
    );
    await jobs.database.write((transaction) => jobs.queue.cancelLane(transaction, 'a'));
    jobs.clock.advance(1);
    await jobs.worker([kind]).idle();
    expect((await jobs.row(id)).state).toBe('cancelled');
    expect(given).toEqual([]);
  });
});

describe('stopping a worker', () => {
  it('waits for running jobs and starts no new ones', async () => {
    const { opened, open } = gate();
    let begun = false;
    const kind = kindOf(() => {
      begun = true;
      return opened;
    });
    const worker = jobs.worker([kind], { concurrency: 1 });
    const under = await jobs.ask(kind, { n: 1 });
    const next = await jobs.ask(kind, { n: 2 });
    // Running in the database is not enough: a claim whose answer is still on its way is returned.
    await until(async () => expect(begun).toBe(true));
    const stopped = worker.stop(30_000);
    open();
    await stopped;
    expect((await jobs.row(under)).state).toBe('succeeded');
    expect((await jobs.row(next)).state).toBe('queued');
    await worker.idle();
  });

  it('returns jobs that do not end in time, without counting the attempt', async () => {
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
    expect(jobs.messages()).toContain('handed back');
  });

  it('returns a claim at once that was on its way when it stopped', async () => {
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

  it('leaves an unresponsive job to its lapsed lease, so that it never runs twice at once', async () => {
    const { opened, open } = gate();
    const kind = kindOf(async (_payload, { attempt }) => {
      if (attempt === 1) await opened;
    });
    const id = await jobs.ask(kind, { n: 1 }, { lane: 'a' });
    const worker = jobs.worker([kind], { abortGraceMs: 10 });
    await until(async () => expect((await jobs.row(id)).state).toBe('running'));
    await expect(worker.stop(10)).rejects.toThrow(`These jobs go on: ${id}`);
    const successor = jobs.worker([kind]);
    await successor.idle();
    expect((await jobs.row(id)).state).toBe('running');
    jobs.clock.advance(10_001);
    await successor.idle();
    expect(await jobs.row(id)).toMatchObject({ state: 'succeeded', attempt: 2 });
    open();
  });
});

describe('a job that a lane must have', () => {
  it('is enqueued once, runs no later than wanted, and leaves no row', async () => {
    const seen: number[] = [];
    const kind = kindOf(async ({ n }) => void seen.push(n), { isForgotten: true });
    const ensure = (n: number, delayMs: number) =>
      jobs.database.write((transaction) =>
        jobs.queue.ensure(transaction, kind, { payload: { n }, lane: 'a', delayMs }),
      );
    await ensure(1, 60_000);
    await ensure(2, 120_000);
    const worker = jobs.worker([kind]);
    await worker.idle();
    expect(seen).toEqual([]);
    await ensure(3, 0);
    await worker.idle();
    expect(seen).toEqual([1]);
    expect(await jobs.database.reader.selectFrom('jobs').selectAll().execute()).toEqual([]);
  });

  it('follows one that runs, which may have looked before', async () => {
    const { opened, open } = gate();
    const seen: number[] = [];
    const kind = kindOf(async ({ n }) => {
      seen.push(n);
      if (n === 1) await opened;
    });
    const ensure = (n: number) =>
      jobs.database.write((transaction) =>
        jobs.queue.ensure(transaction, kind, { payload: { n }, lane: 'a' }),
      );
    const worker = jobs.worker([kind]);
    await ensure(1);
    await until(() => expect(seen).toEqual([1]));
    await ensure(2);
    await ensure(3);
    open();
    await worker.idle();
    expect(seen).toEqual([1, 2]);
  });
});

describe('work that goes on for long', () => {
  it('hears that its worker stops, before its signal aborts', async () => {
    const heard: boolean[] = [];
    const started = gate();
    const kind = kindOf(async (_payload, { stopping, signal }) => {
      started.open();
      await new Promise((resolve) => stopping.addEventListener('abort', resolve));
      heard.push(stopping.aborted, signal.aborted);
    });
    const worker = jobs.worker([kind]);
    const id = await jobs.ask(kind, { n: 1 });
    await started.opened;
    await worker.stop(60_000);
    expect(heard).toEqual([true, false]);
    expect(await jobs.queue.find(id)).toMatchObject({ state: 'succeeded' });
  });
});
