import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type JobsFixture, openJobsFixture } from '../../test/jobs.ts';
import { timestamp } from '../clock.ts';
import type { JobState } from '../database/tables.ts';
import { createPruneJob } from './prune.ts';

let jobs: JobsFixture;
beforeAll(async () => {
  jobs = await openJobsFixture();
});
beforeEach(() => jobs.clear());
afterAll(() => jobs.remove());

const DAY = 24 * 60 * 60_000;

async function prune(): Promise<void> {
  const kind = createPruneJob(jobs);
  await jobs.ask(kind, {});
  await jobs.worker([kind]).idle();
}

async function addJobs(kind: string, state: JobState, ageMs: number, count = 1): Promise<void> {
  const at = timestamp(jobs.clock, -ageMs);
  const finished = state !== 'queued' && state !== 'running';
  const rows = Array.from({ length: count }, () => ({
    id: crypto.randomUUID(),
    kind,
    lane: null,
    payload: '{}',
    state,
    max_attempts: 1,
    run_at: at,
    // Far ahead, so that nobody takes it for a dead worker's.
    lease_until: state === 'running' ? timestamp(jobs.clock, DAY) : null,
    worker_id: null,
    error: null,
    request_id: null,
    created_at: at,
    started_at: null,
    finished_at: finished ? at : null,
  }));
  await jobs.database.write(({ queries }) => queries.insertInto('jobs').values(rows).execute());
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

describe('pruning', () => {
  it('deletes finished jobs after 7 days and failed ones after 30, and nothing that is not finished', async () => {
    await addJobs('succeeded, old', 'succeeded', 7 * DAY + 1);
    await addJobs('succeeded, young', 'succeeded', 7 * DAY - 1);
    await addJobs('cancelled, old', 'cancelled', 8 * DAY);
    await addJobs('failed, old', 'failed', 30 * DAY + 1);
    await addJobs('failed, young', 'failed', 30 * DAY - 1);
    await addJobs('queued', 'queued', 90 * DAY);
    await addJobs('running', 'running', 90 * DAY);
    await prune();
    expect(await leftKinds()).toEqual(['failed, young', 'queued', 'running', 'succeeded, young']);
    expect(jobs.lines).toContainEqual(expect.objectContaining({ msg: 'pruned', jobs: 3 }));
  });

  it('deletes more than one batch, past failed jobs that stay', async () => {
    await addJobs('failed', 'failed', 20 * DAY, 600);
    await addJobs('old', 'succeeded', 10 * DAY, 1_201);
    await prune();
    expect(await leftKinds()).toHaveLength(600);
    expect(jobs.lines).toContainEqual(expect.objectContaining({ msg: 'pruned', jobs: 1_201 }));
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
        .values(slots.map(([schedule, days]) => ({ schedule, slot: timestamp(jobs.clock, -days * DAY) })))
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
      ].map(([schedule, days]) => ({ schedule, slot: timestamp(jobs.clock, -Number(days) * DAY) })),
    );
  });

  it('deletes workers that were not seen for a day', async () => {
    await jobs.database.write(({ queries }) =>
      queries
        .insertInto('workers')
        .values([
          { id: crypto.randomUUID(), process: 'gone', seen_at: timestamp(jobs.clock, -DAY - 1) },
          { id: crypto.randomUUID(), process: 'asleep', seen_at: timestamp(jobs.clock, -DAY + 1) },
        ])
        .execute(),
    );
    await prune();
    const left = await jobs.database.reader.selectFrom('workers').select('process').execute();
    expect(left.map((row) => row.process).filter((name) => !/:\d+$/.test(name))).toEqual(['asleep']);
  });
});
