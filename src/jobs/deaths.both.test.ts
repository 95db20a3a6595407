import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { addEffect, gate, type JobsFixture, kindOf, NEVER, openJobsFixture, until } from '../../test/jobs.ts';
import { type Clock, timestamp } from '../lib/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../lib/durations.ts';
import type { JobKind } from './job.ts';
import { dropSetAside, listSetAside, retrySetAside } from './set-aside.ts';
import { createSuspects } from './suspects.ts';
import type { Worker } from './worker.ts';

// test/faults/poison.both.long-test.ts has processes that really die. Here, workers fall silent: no heartbeat, and no outcome.

let jobs: JobsFixture;
const ends: (() => void)[] = [];
beforeAll(async () => {
  jobs = await openJobsFixture();
});
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await jobs.clear();
});
afterAll(() => jobs.remove());

/** A kind whose runs hang until the end of the test, unless `hangs` is false. */
function hanging(more: Parameters<typeof kindOf>[1] = {}) {
  const runs = { hangs: true, count: 0 };
  const { opened, open } = gate();
  ends.push(open);
  const kind = kindOf(
    async () => {
      runs.count++;
      if (runs.hangs) await opened;
    },
    { giveUp: (_payload, { code }, transaction) => addEffect(transaction, code), ...more },
  );
  return { kind, runs };
}

let n = 0;
/** Enqueues a job of an account of its own, whose work no other job has. */
const ask = (kind: ReturnType<typeof kindOf>) => jobs.ask(kind, { n: ++n }, { account: crypto.randomUUID() });
const stateOf = async (id: string) => (await jobs.row(id)).state;
const isRunBy = (worker: Worker, id: string) =>
  until(async () => expect(await jobs.row(id)).toMatchObject({ state: 'running', worker_id: worker.id }));

/** A worker that notices deaths and claims jobs until its slots for short jobs are full. It has no heartbeat but the first. */
const mortal = (kinds: JobKind[], slots: 1 | 2 = 1, clock: Clock = jobs.clock) =>
  jobs.worker(kinds, { heartbeatMs: NEVER, pollMs: 5, concurrency: slots === 1 ? 1 : 3, clock });

/** Its process dies: its leases lapse. */
const die = () => jobs.clock.advance(10_001);

async function dieWith(kind: JobKind, id: string): Promise<void> {
  let diedAt: Date | undefined;
  // A busy database can finish its first heartbeat late, which must not look like one after its death.
  await isRunBy(mortal([kind], 1, { now: () => diedAt ?? jobs.clock.now() }), id);
  diedAt = jobs.clock.now();
  die();
}

const deaths = async () =>
  (await jobs.database.reader.selectFrom('job_deaths').select('job_id').execute()).map(
    ({ job_id }) => job_id,
  );
const aside = async () => (await listSetAside(jobs.database.reader)).map(({ id }) => id);

describe('a job whose worker died', () => {
  it('is tried again, and set aside at the second death', async () => {
    const { kind, runs } = hanging();
    const id = await ask(kind);
    await dieWith(kind, id);
    await dieWith(kind, id);
    runs.hangs = false;
    await jobs.worker([kind]).idle();
    expect(await jobs.row(id)).toMatchObject({ state: 'failed', reason_code: 'set_aside', attempt: 2 });
    expect(await jobs.effects()).toEqual({ set_aside: 1 });
    expect(await aside()).toEqual([id]);
    expect(runs.count).toBe(2);
  });

  it('is forgotten as a suspect once an attempt ends otherwise', async () => {
    const { kind, runs } = hanging();
    const id = await ask(kind);
    await dieWith(kind, id);
    runs.hangs = false;
    await jobs.worker([kind]).idle();
    expect(await stateOf(id)).toBe('succeeded');
    expect(await deaths()).toEqual([]);
  });

  it('stays a suspect if a look that began before its death ends later', async () => {
    const { kind } = hanging();
    const id = await ask(kind);
    const suspects = createSuspects(jobs.database, jobs.clock);
    const slow = gate();
    const late = suspects.refresh(
      jobs.database.reader.withPlugin({
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          await slow.opened;
          return result;
        },
      }),
    );
    await dieWith(kind, id);
    await isRunBy(mortal([kind]), id);
    expect(await deaths()).toEqual([id]);
    await suspects.refresh(jobs.database.reader);
    slow.open();
    await late;
    expect(suspects.areOpen).toBe(true);
  });

  it('is not set aside at the second death if a later job ran beside it, but at the third', async () => {
    const { kind, runs } = hanging();
    const innocent = await ask(kind);
    await dieWith(kind, innocent);
    for (const name of ['later', 'still later']) {
      const beside = hanging({ name }).kind;
      const worker = mortal([kind, beside], 2);
      await isRunBy(worker, innocent);
      jobs.clock.advance(MINUTE_MS);
      await isRunBy(worker, await ask(beside));
      die();
    }
    runs.hangs = false;
    await jobs.worker([kind]).idle();
    expect(await jobs.row(innocent)).toMatchObject({
      state: 'failed',
      attempt: 3,
      reason_code: 'set_aside',
    });
  });

  it('is not set aside at the second death if another suspect ran beside it', async () => {
    const { kind, runs } = hanging();
    const ids = [await ask(kind), await ask(kind)];
    const together = mortal([kind], 2);
    for (const id of ids) await isRunBy(together, id);
    die();
    const again = mortal([kind], 2);
    await until(async () => {
      const rows = await Promise.all(ids.map(jobs.row));
      expect(rows.map(({ worker_id }) => worker_id).sort()).toEqual([again.id, null].sort());
    });
    jobs.clock.advance(MINUTE_MS);
    for (const id of ids) await isRunBy(again, id);
    die();
    runs.hangs = false;
    await jobs.worker([kind]).idle();
    expect(await Promise.all(ids.map(stateOf))).toEqual(['succeeded', 'succeeded']);
  });

  it('is not set aside at the second death if work ran beside it that is a suspect by another job', async () => {
    const { kind, runs } = hanging();
    const monitor = hanging({ name: 'monitor', maxAttempts: 1 }).kind;
    const look = () => jobs.ask(monitor, { n: 0 });
    const innocent = await ask(kind);
    const first = mortal([kind, monitor], 2);
    await isRunBy(first, innocent);
    await isRunBy(first, await look());
    const second = mortal([kind, monitor], 2);
    await isRunBy(second, await look());
    die();
    // It finds what the first one left.
    void second.idle();
    await isRunBy(second, innocent);
    die();
    runs.hangs = false;
    await jobs.worker([kind, monitor]).idle();
    expect(await stateOf(innocent)).toBe('succeeded');
  });

  it('is not set aside at its last attempt either, if a later job ran beside it', async () => {
    const { kind, runs } = hanging({ maxAttempts: 1 });
    const look = () => jobs.ask(kind, { n: 0 }, { lane: 'monitor' });
    await dieWith(kind, await look());
    const beside = hanging({ name: 'later' }).kind;
    const worker = mortal([kind, beside], 2);
    const second = await look();
    await isRunBy(worker, second);
    jobs.clock.advance(MINUTE_MS);
    await isRunBy(worker, await ask(beside));
    die();
    runs.hangs = false;
    await jobs.worker([kind]).idle();
    expect(await jobs.row(second)).toMatchObject({ state: 'failed', reason_code: 'interrupted' });
    const third = await look();
    await jobs.worker([kind]).idle();
    expect(await stateOf(third)).toBe('succeeded');
  });

  it('counts one death of its worker once, if two jobs do the same work', async () => {
    const { kind, runs } = hanging();
    const same = () => jobs.ask(kind, { n: 0 }, { account: crypto.randomUUID() });
    const ids = [await same(), await same()];
    const worker = mortal([kind], 2);
    for (const id of ids) await isRunBy(worker, id);
    die();
    runs.hangs = false;
    await jobs.worker([kind]).idle();
    expect(await Promise.all(ids.map(stateOf))).toEqual(['succeeded', 'succeeded']);
  });

  it('runs alone for its first minute', async () => {
    const { kind } = hanging();
    const suspect = await ask(kind);
    await dieWith(kind, suspect);
    const worker = jobs.worker([kind], { heartbeatMs: 5, pollMs: 5 });
    await isRunBy(worker, suspect);
    const other = await ask(kind);
    for (let second = 0; second < 60; second += 6) {
      expect(await stateOf(other)).toBe('queued');
      jobs.clock.advance(6_000);
      const renewed = timestamp(jobs.clock, 10_000);
      await until(async () => expect((await jobs.row(suspect)).lease_until).toBe(renewed));
    }
    await isRunBy(worker, other);
  });
});

describe('no death is', () => {
  it('an orderly stop that left its job running', async () => {
    const { kind } = hanging();
    const id = await ask(kind);
    const worker = mortal([kind]);
    await isRunBy(worker, id);
    const stopped = worker.stop(NEVER);
    await until(async () =>
      expect(await jobs.database.reader.selectFrom('workers').select('stopping').execute()).toEqual([
        { stopping: true },
      ]),
    );
    die();
    await isRunBy(mortal([kind]), id);
    expect(await deaths()).toEqual([]);
    for (const end of ends.splice(0)) end();
    await stopped;
  });

  it('an end after the stop was announced', async () => {
    const { kind } = hanging();
    const id = await ask(kind);
    const worker = mortal([kind]);
    await isRunBy(worker, id);
    await worker.announceStop();
    die();
    await isRunBy(mortal([kind]), id);
    expect(await deaths()).toEqual([]);
  });

  it('a lost lease of a worker that lives', async () => {
    const { kind } = hanging();
    const id = await ask(kind);
    const worker = mortal([kind]);
    await isRunBy(worker, id);
    die();
    // It did not reach the database for longer than a lease, and has shown itself since.
    await jobs.database.write(({ queries }) =>
      queries
        .updateTable('workers')
        .set({ seen_at: timestamp(jobs.clock) })
        .where('id', '=', worker.id)
        .execute(),
    );
    await isRunBy(mortal([kind]), id);
    expect(await deaths()).toEqual([]);
  });

  it('the silence of a worker that comes back', async () => {
    const { kind } = hanging();
    const id = await ask(kind);
    const silent = mortal([kind]);
    await isRunBy(silent, id);
    die();
    await isRunBy(mortal([kind]), id);
    expect(await deaths()).toEqual([id]);
    void silent.idle();
    await until(async () => expect(await deaths()).toEqual([]));
  });
});

describe('the same work in another job', () => {
  const again = (kind: ReturnType<typeof kindOf>) => jobs.ask(kind, { n: 0 }, { lane: 'same' });

  it('counts its deaths, is refused for 6 hours after one was set aside, and then tried again', async () => {
    const { kind, runs } = hanging({ maxAttempts: 1 });
    const [first, second] = [await again(kind), await again(kind)];
    await dieWith(kind, first);
    await dieWith(kind, second);
    const worker = jobs.worker([kind]);
    await worker.idle();
    expect(await jobs.row(first)).toMatchObject({ state: 'failed', reason_code: 'interrupted' });
    expect(await jobs.row(second)).toMatchObject({ state: 'failed', reason_code: 'set_aside' });

    const third = await again(kind);
    await worker.idle();
    expect(await jobs.row(third)).toMatchObject({ state: 'failed', reason_code: 'set_aside' });
    expect(runs.count).toBe(2);
    expect(await aside()).toEqual([second]);

    jobs.clock.advance(6 * HOUR_MS);
    runs.hangs = false;
    const fourth = await again(kind);
    await worker.idle();
    expect(await stateOf(fourth)).toBe('succeeded');
    expect(await aside()).toEqual([]);
  });

  it('is set aside at the first death after those hours', async () => {
    const { kind, runs } = hanging();
    const first = await again(kind);
    await dieWith(kind, first);
    await dieWith(kind, first);
    const worker = jobs.worker([kind]);
    await worker.idle();
    await worker.stop(0);
    jobs.clock.advance(25 * HOUR_MS);
    const second = await again(kind);
    await dieWith(kind, second);
    await jobs.worker([kind]).idle();
    expect(await jobs.row(second)).toMatchObject({ state: 'failed', reason_code: 'set_aside' });
    expect(runs.count).toBe(3);
  });
});

describe('an operator', () => {
  /** A job that is set aside, and a worker. */
  async function setAside(more: Parameters<typeof kindOf>[1]) {
    const { kind, runs } = hanging(more);
    const id = await jobs.ask(kind, { n: 0 }, { lane: 'same' });
    await dieWith(kind, id);
    await dieWith(kind, id);
    runs.hangs = false;
    const worker = jobs.worker([kind]);
    await worker.idle();
    expect(await aside()).toEqual([id]);
    return { id, kind, runs, worker };
  }

  it('runs a job again, if its end had no effects', async () => {
    const { id, worker } = await setAside({ isRepeatable: true });
    await jobs.database.write((transaction) => retrySetAside(transaction, id, timestamp(jobs.clock)));
    expect(await aside()).toEqual([]);
    await worker.idle();
    expect(await jobs.row(id)).toMatchObject({ state: 'succeeded', error: null, reason: null });
    expect(await deaths()).toEqual([]);
  });

  it('is refused to run another again', async () => {
    const { id } = await setAside({});
    const retry = jobs.database.write((transaction) => retrySetAside(transaction, id, timestamp(jobs.clock)));
    await expect(retry).rejects.toThrow('Request the work again');
    expect(await aside()).toEqual([id]);
  });

  it('sets it aside at the next death', async () => {
    const { id, kind, runs, worker } = await setAside({ isRepeatable: true });
    await worker.stop(0);
    await jobs.database.write((transaction) => retrySetAside(transaction, id, timestamp(jobs.clock)));
    runs.hangs = true;
    await dieWith(kind, id);
    await jobs.worker([kind]).idle();
    expect(await aside()).toEqual([id]);
  });

  it('takes a job off the list, and the same work runs at once', async () => {
    const { id, kind, worker } = await setAside({});
    await jobs.database.write((transaction) => dropSetAside(transaction, id));
    expect(await aside()).toEqual([]);
    const next = await jobs.ask(kind, { n: 0 }, { lane: 'same' });
    await worker.idle();
    expect(await stateOf(next)).toBe('succeeded');
    await expect(jobs.database.write((transaction) => dropSetAside(transaction, id))).rejects.toThrow(
      'is set aside',
    );
  });
});
