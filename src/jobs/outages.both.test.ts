import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addEffect, type JobsFixture, kindOf, NEVER, openJobsFixture, until } from '../../test/jobs.ts';

let jobs: JobsFixture;
beforeAll(async () => {
  jobs = await openJobsFixture();
});
afterEach(() => jobs.clear());
afterAll(() => jobs.remove());

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
    const errors = () => jobs.lines.filter((line) => line.level === 50).map((line) => line.msg);
    await until(() =>
      expect(errors().sort()).toEqual([
        'could not claim jobs; trying again until it works',
        'could not keep the leases of jobs; trying again until it works',
      ]),
    );
    // Time for more of them.
    await new Promise((resolve) => setTimeout(resolve, 100));
    state.is = 'up';
    await until(async () => expect((await jobs.row(id)).state).toBe('succeeded'));
    expect(errors()).toHaveLength(2);
    expect(jobs.messages()).toContain('could claim jobs again');
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
      expect(jobs.messages()).toContainEqual(expect.stringMatching(/^could not write the outcome/)),
    );
    state.is = 'up';
    await until(async () => expect((await jobs.row(id)).state).toBe('succeeded'));
    expect(await jobs.effects()).toEqual({ effect: 1 });
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
    expect(jobs.messages()).toContain('could not keep the leases of jobs; trying again until it works');
    state.is = 'up';
    breakHanging();
    await until(async () => {
      await worker.idle();
      expect(await jobs.row(id)).toMatchObject({ state: 'succeeded', attempt: 2 });
    });
  });
});
