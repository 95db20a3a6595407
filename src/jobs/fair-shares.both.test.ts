import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { gate, type JobsFixture, kindOf, NEVER, openJobsFixture, until } from '../../test/jobs.ts';
import type { JobRow } from '../database/tables/jobs.ts';
import { timestamp } from '../lib/clock.ts';
import { claimDue } from './claim.ts';
import type { JobKind } from './job.ts';
import { advanceLane, findHeldUpLanes } from './lanes.ts';
import { createQueue } from './queue.ts';

const A = '11111111-1111-4111-8111-111111111111';
const B = '22222222-2222-4222-8222-222222222222';

let jobs: JobsFixture;
beforeAll(async () => {
  jobs = await openJobsFixture();
});
afterEach(() => jobs.clear());
afterAll(() => jobs.remove());

/** A kind whose jobs run until the gate opens, with the shares that run it now. */
function held(options: Partial<Pick<JobKind, 'name' | 'class'>>) {
  const { opened, open } = gate();
  const running: number[] = [];
  const kind = kindOf(async ({ n }) => {
    running.push(n);
    await opened;
  }, options);
  return { kind, open, running };
}

const short = kindOf(async () => {}, { name: 'short' });

describe('long jobs', () => {
  it('of one account leave slots to short jobs and to long jobs of others', async () => {
    const backup = held({ name: 'backup', class: 'long' });
    // Account A is 0, account B is 1.
    for (let n = 0; n < 8; n++) await jobs.ask(backup.kind, { n: 0 }, { lane: `a ${n}`, account: A });
    jobs.worker([backup.kind, short], { concurrency: 8 });
    await until(() => expect(backup.running).toEqual([0, 0]));

    const install = await jobs.ask(short, { n: 1 }, { lane: 'b', account: B });
    await until(async () => expect((await jobs.row(install)).state).toBe('succeeded'));
    const own = await jobs.ask(short, { n: 0 }, { lane: 'a', account: A });
    await until(async () => expect((await jobs.row(own)).state).toBe('succeeded'));
    await jobs.ask(backup.kind, { n: 1 }, { lane: 'b', account: B });
    await until(() => expect(backup.running).toEqual([0, 0, 1]));
    backup.open();
  });

  it('of one account leave slots to others in each of two processes', async () => {
    const backup = held({ name: 'backup', class: 'long' });
    for (let n = 0; n < 8; n++) await jobs.ask(backup.kind, { n: 0 }, { lane: `a ${n}`, account: A });
    for (let n = 0; n < 2; n++) {
      const queue = createQueue(jobs.database, jobs.clock, jobs.random);
      jobs.worker([backup.kind, short], { concurrency: 8, queue, pollMs: 10 });
    }
    await until(() => expect(backup.running).toEqual([0, 0, 0, 0]));
    for (let n = 0; n < 2; n++) await jobs.ask(backup.kind, { n: 1 }, { lane: `b ${n}`, account: B });
    const installs = await Promise.all([2, 3].map((n) => jobs.ask(short, { n }, { account: B })));
    for (const id of installs) {
      await until(async () => expect((await jobs.row(id)).state).toBe('succeeded'));
    }
    await until(() => expect(backup.running).toEqual([0, 0, 0, 0, 1, 1]));
    backup.open();
  });
});

describe('short jobs', () => {
  it('of one account leave a slot to others while they run', async () => {
    const slow = held({ name: 'slow' });
    for (let n = 0; n < 8; n++) await jobs.ask(slow.kind, { n: 0 }, { account: A });
    jobs.worker([slow.kind, short], { concurrency: 8 });
    await until(() => expect(slow.running).toHaveLength(4));
    const other = await jobs.ask(short, { n: 1 }, { account: B });
    await until(async () => expect((await jobs.row(other)).state).toBe('succeeded'));
    expect(slow.running).toHaveLength(4);
    slow.open();
  });

  it('are claimed in turn, whatever one account has queued before', async () => {
    await insertQueued(3_000, (n) => ({ share: A, lane: `a ${n}` }));
    const others = [
      await jobs.ask(short, { n: 1 }, { account: B }),
      await jobs.ask(short, { n: 2 }, { account: B }),
      await jobs.ask(short, { n: 3 }),
    ];
    const turns = claims();
    const taken = [];
    for (let n = 0; n < 5; n++) taken.push(...(await turns.claim(1)));
    expect(taken.map(({ share }) => share)).toEqual([A, B, 'platform', A, B]);
    expect(taken.map(({ id }) => id)).toEqual(expect.arrayContaining(others));
    expect((await turns.claim(3)).map(({ share }) => share)).toEqual([A, A, A]);
  });

  it('of an account with a used-up share are skipped', async () => {
    await insertQueued(50, () => ({ share: A }));
    await jobs.ask(short, { n: 1 }, { account: B });
    const turns = claims({ limitOfOneShare: 2, running: new Map([[A, 1]]) });
    expect((await turns.claim(10)).map(({ share }) => share)).toEqual([A, B]);
  });

  it('are never claimed twice by concurrent processes', async () => {
    await insertQueued(60, (n) => ({ share: n % 3 === 0 ? A : B, lane: `lane ${n}` }));
    const all = await Promise.all(Array.from({ length: 10 }, () => claims().claim(4)));
    const ids = all.flat().map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids).toHaveLength(40);
  });
});

describe('a lane', () => {
  it('with many jobs costs claims nothing: waiting jobs are skipped', async () => {
    await jobs.ask(short, { n: 0 }, { lane: 'a', account: A });
    const [first] = await claims().claim(1);
    for (let n = 1; n <= 5; n++) await jobs.ask(short, { n }, { lane: 'a', account: A });
    const rows = await jobs.database.reader
      .selectFrom('jobs')
      .select('behind')
      .where('lane', '=', 'a')
      .orderBy('seq')
      .execute();
    expect(rows.map(({ behind }) => behind)).toEqual([false, true, true, true, true, true]);
    expect(first).toBeDefined();
    expect(await claims().claim(5)).toEqual([]);
  });

  it('continues if its next job was queued at the moment the previous one ended', async () => {
    const next = await jobs.ask(short, { n: 1 }, { lane: 'a', account: A });
    await jobs.database.write(({ queries }) =>
      queries.updateTable('jobs').set({ behind: true }).where('id', '=', next).execute(),
    );
    expect(await findHeldUpLanes(jobs.database.reader)).toEqual(['a']);
    const worker = jobs.worker([short], { pollMs: NEVER });
    await worker.idle();
    expect((await jobs.row(next)).state).toBe('succeeded');
    expect(await findHeldUpLanes(jobs.database.reader)).toEqual([]);
  });

  it('has its next job claimable in the transaction that ends one', async () => {
    await jobs.ask(short, { n: 0 }, { lane: 'a' });
    const next = await jobs.ask(short, { n: 1 }, { lane: 'a' });
    await jobs.ask(short, { n: 2 }, { lane: 'a' });
    const [first] = await claims().claim(1);
    await jobs.database.write(async (transaction) => {
      const done = { state: 'succeeded' as const };
      await transaction.queries
        .updateTable('jobs')
        .set(done)
        .where('id', '=', first?.id ?? '')
        .execute();
      await advanceLane(transaction, 'a');
    });
    expect((await claims().claim(5)).map(({ id }) => id)).toEqual([next]);
  });
});

describe('the share of a job', () => {
  it('is the platform without an account or install', async () => {
    const unknown = await jobs.ask(short, { n: 1 }, { lane: A });
    const none = await jobs.ask(short, { n: 1 });
    expect((await jobs.row(unknown)).share).toBe('platform');
    expect((await jobs.row(none)).share).toBe('platform');
  });

  it('is the account of the install that is its lane, or that is named', async () => {
    const install = await insertInstall();
    const byLane = await jobs.ask(short, { n: 1 }, { lane: install });
    const byName = await jobs.ask(short, { n: 1 }, { lane: 'reports', install });
    expect((await jobs.row(byLane)).share).toBe(A);
    expect((await jobs.row(byName)).share).toBe(A);
    await jobs.database.write(async ({ queries }) => {
      await queries.deleteFrom('installs').execute();
      await queries.deleteFrom('accounts').execute();
    });
  });
});

/** Claims jobs one after the other as one worker does, without running any. */
function claims(options: { limitOfOneShare?: number; running?: ReadonlyMap<string, number> } = {}) {
  let last = '';
  const workerId = crypto.randomUUID();
  return {
    async claim(limit: number) {
      const { jobs: taken, cursor } = await jobs.database.write((transaction) =>
        claimDue(transaction, {
          workerId,
          kinds: ['short'],
          class: 'short',
          now: timestamp(jobs.clock),
          leaseUntil: timestamp(jobs.clock, 10_000),
          limit,
          limitOfOneShare: 100,
          running: new Map(),
          ...options,
          cursor: last,
        }),
      );
      last = cursor;
      return taken;
    },
  };
}

async function insertQueued(
  count: number,
  rowOf: (n: number) => Partial<Pick<JobRow, 'lane'>> & { share: string },
) {
  const now = timestamp(jobs.clock);
  const rows = Array.from({ length: count }, (_, n) => ({
    id: crypto.randomUUID(),
    kind: 'short',
    lane: null,
    payload: JSON.stringify({ n }),
    max_attempts: 1,
    run_at: now,
    created_at: now,
    request_id: null,
    lease_until: null,
    worker_id: null,
    error: null,
    started_at: null,
    finished_at: null,
    ...rowOf(n),
  }));
  for (let at = 0; at < count; at += 500) {
    const some = rows.slice(at, at + 500);
    await jobs.database.write(({ queries }) => queries.insertInto('jobs').values(some).execute());
  }
}

async function insertInstall(): Promise<string> {
  const id = crypto.randomUUID();
  const created_at = timestamp(jobs.clock);
  await jobs.database.write(async ({ queries }) => {
    await queries.insertInto('accounts').values({ id: A, name: 'A', created_at }).execute();
    await queries
      .insertInto('installs')
      .values({
        id,
        account_id: A,
        site_id: null,
        environment: null,
        name: 'shop',
        status: 'active',
        php_version: null,
        stable_ips: null,
        offload_file_name: 'proof.txt',
        offload_file_content: 'proof',
        created_at,
      })
      .execute();
  });
  return id;
}
