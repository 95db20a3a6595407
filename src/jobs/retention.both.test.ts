import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type JobsFixture, openJobsFixture } from '../../test/jobs.ts';
import type { InstallStatus } from '../database/tables/installs.ts';
import type { JobState } from '../database/tables/jobs.ts';
import { failedLanes } from '../features/websites/installs/website-store.ts';
import { timestamp } from '../lib/clock.ts';
import { DAY_MS } from '../lib/durations.ts';
import { createPruneJob } from './retention.ts';

let jobs: JobsFixture;
beforeAll(async () => {
  jobs = await openJobsFixture();
});
beforeEach(() => jobs.clear());
afterAll(() => jobs.remove());

async function prune(): Promise<void> {
  const kind = createPruneJob({ ...jobs, askedAfter: failedLanes });
  await jobs.ask(kind, {});
  const worker = jobs.worker([kind]);
  await worker.idle();
  // Otherwise it may claim the next job, for which the next worker does not wait.
  await worker.stop(0);
}

async function addJobs(
  kind: string,
  state: JobState,
  ageMs: number,
  {
    count = 1,
    lane = null,
    seen = false,
  }: { count?: number; lane?: string | null /** Users see it as an operation. */; seen?: boolean } = {},
): Promise<void> {
  const at = timestamp(jobs.clock, -ageMs);
  const finished = state !== 'queued' && state !== 'running';
  const rows = Array.from({ length: count }, () => ({
    id: crypto.randomUUID(),
    kind,
    lane,
    payload: '{}',
    state,
    max_attempts: 1,
    run_at: at,
    // Far ahead, so that it does not count as a dead worker's.
    lease_until: state === 'running' ? timestamp(jobs.clock, DAY_MS) : null,
    worker_id: null,
    error: null,
    request_id: null,
    created_at: at,
    started_at: null,
    finished_at: finished ? at : null,
  }));
  await jobs.database.write(async ({ queries }) => {
    await queries.insertInto('jobs').values(rows).execute();
    if (!seen) return;
    const account_id = crypto.randomUUID();
    const operations = rows.map(({ id }) => ({
      id,
      kind: 'cache.purge',
      job_id: id,
      account_id,
      install_id: null,
      install_name: null,
      result: null,
      created_at: at,
    }));
    await queries.insertInto('operations').values(operations).execute();
  });
}

async function addInstall(status: InstallStatus): Promise<string> {
  const id = crypto.randomUUID();
  const account_id = crypto.randomUUID();
  const created_at = timestamp(jobs.clock);
  await jobs.database.write(async ({ queries }) => {
    await queries.insertInto('accounts').values({ id: account_id, name: 'An account', created_at }).execute();
    await queries
      .insertInto('installs')
      .values({
        id,
        account_id,
        site_id: null,
        environment: null,
        name: `a${id.slice(0, 8)}`,
        status,
        php_version: null,
        stable_ips: null,
        offload_file_name: 'x',
        offload_file_content: 'x',
        created_at,
      })
      .execute();
  });
  return id;
}

async function leftKinds(): Promise<string[]> {
  const rows = await jobs.database.reader
    .selectFrom('jobs')
    .select('kind')
    .where('kind', '<>', 'prune')
    .orderBy('kind')
    .execute();
  return rows.map((row) => row.kind);
}

describe('retention', () => {
  it('deletes finished jobs after 7 days and failed ones after 30, and no unfinished one', async () => {
    await addJobs('succeeded, old', 'succeeded', 7 * DAY_MS + 1);
    await addJobs('succeeded, young', 'succeeded', 7 * DAY_MS - 1);
    await addJobs('cancelled, old', 'cancelled', 8 * DAY_MS);
    await addJobs('failed, old', 'failed', 30 * DAY_MS + 1);
    await addJobs('failed, young', 'failed', 30 * DAY_MS - 1);
    await addJobs('queued', 'queued', 90 * DAY_MS);
    await addJobs('running', 'running', 90 * DAY_MS);
    await prune();
    expect(await leftKinds()).toEqual(['failed, young', 'queued', 'running', 'succeeded, young']);
    expect(jobs.lines).toContainEqual(expect.objectContaining({ msg: 'pruned', jobs: 3 }));
  });

  it('keeps operations and their jobs for 30 days', async () => {
    await addJobs('succeeded, old', 'succeeded', 30 * DAY_MS + 1, { seen: true });
    await addJobs('succeeded, young', 'succeeded', 30 * DAY_MS - 1, { seen: true });
    await addJobs('cancelled, old', 'cancelled', 30 * DAY_MS + 1, { seen: true });
    await addJobs('running', 'running', 90 * DAY_MS, { seen: true });
    await prune();
    expect(await leftKinds()).toEqual(['running', 'succeeded, young']);
    const { count } = await jobs.database.reader
      .selectFrom('operations')
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow();
    expect(count).toBe(2);
  });

  it('deletes more than one batch, past failed jobs that stay', async () => {
    await addJobs('failed', 'failed', 20 * DAY_MS, { count: 600 });
    await addJobs('old', 'succeeded', 10 * DAY_MS, { count: 1_201 });
    await prune();
    expect(await leftKinds()).toHaveLength(600);
    expect(jobs.lines).toContainEqual(expect.objectContaining({ msg: 'pruned', jobs: 1_201 }));
  });

  it('keeps the failed jobs of a failed install until it is deleted', async () => {
    const failed = await addInstall('failed');
    const active = await addInstall('active');
    await addJobs('why it failed', 'failed', 400 * DAY_MS, { lane: failed });
    await addJobs('its removal', 'succeeded', 400 * DAY_MS, { lane: failed });
    await addJobs('of an active one', 'failed', 400 * DAY_MS, { lane: active });
    await prune();
    expect(await leftKinds()).toEqual(['why it failed']);
    await jobs.database.write(({ queries }) =>
      queries.deleteFrom('installs').where('id', '=', failed).execute(),
    );
    await prune();
    expect(await leftKinds()).toEqual([]);
  });

  it('keeps the latest slot of each schedule, however old', async () => {
    const slots = [
      ['yearly', 400],
      ['yearly', 35],
      ['daily', 31],
      ['daily', 29],
      ['daily', 1],
    ] as const;
    await jobs.database.write(({ queries }) =>
      queries
        .insertInto('schedule_runs')
        .values(slots.map(([schedule, days]) => ({ schedule, slot: timestamp(jobs.clock, -days * DAY_MS) })))
        .execute(),
    );
    await prune();
    const left = await jobs.database.reader
      .selectFrom('schedule_runs')
      .selectAll()
      .orderBy('schedule')
      .orderBy('slot')
      .execute();
    expect(left).toEqual(
      [
        ['daily', 29],
        ['daily', 1],
        ['yearly', 35],
      ].map(([schedule, days]) => ({ schedule, slot: timestamp(jobs.clock, -Number(days) * DAY_MS) })),
    );
  });

  it('deletes workers not seen for a day', async () => {
    await jobs.database.write(({ queries }) =>
      queries
        .insertInto('workers')
        .values([
          { id: crypto.randomUUID(), process: 'gone', seen_at: timestamp(jobs.clock, -DAY_MS - 1) },
          { id: crypto.randomUUID(), process: 'asleep', seen_at: timestamp(jobs.clock, -DAY_MS + 1) },
        ])
        .execute(),
    );
    await prune();
    const left = await jobs.database.reader.selectFrom('workers').select('process').execute();
    expect(left.map((row) => row.process).filter((name) => !/:\d+$/.test(name))).toEqual(['asleep']);
  });
});
