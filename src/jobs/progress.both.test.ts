import Type from 'typebox';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type JobsFixture, openJobsFixture, until } from '../../test/jobs.ts';
import { defineJob } from './job.ts';
import { createProgressReports } from './progress.ts';

let jobs: JobsFixture;
beforeAll(async () => {
  jobs = await openJobsFixture();
});
beforeEach(() => jobs.clear());
afterAll(() => jobs.remove());

const type = {
  name: 'measured',
  payload: Type.Object({}),
  operation: 'backup.create',
  maxAttempts: 1,
  timeoutMs: 60_000,
} as const;
const ask = () => jobs.ask(type, {}, { account: crypto.randomUUID() });
const progressOf = (id: string) =>
  jobs.database.reader
    .selectFrom('operations')
    .select(['progress_done as done', 'progress_total as total', 'progress_unit as unit'])
    .where('id', '=', id)
    .executeTakeFirst();

describe('progress', () => {
  it('of a running job is saved in its operation', async () => {
    const finish = Promise.withResolvers<void>();
    const id = await ask();
    const kind = defineJob({
      ...type,
      async run(_payload, { progress }) {
        progress(512.5, 2048, 'bytes');
        await finish.promise;
      },
    });
    const worker = jobs.worker([kind]);
    await until(async () => expect(await progressOf(id)).toEqual({ done: 512, total: 2048, unit: 'bytes' }));
    finish.resolve();
    await worker.idle();
    expect(await jobs.row(id)).toMatchObject({ state: 'succeeded' });
  });

  it('is saved rarely, with the latest state, and not after the end', async () => {
    const id = await ask();
    const reports = createProgressReports(jobs.database, id, jobs.log, 20);
    for (let done = 1; done <= 10_000; done += 1) reports.report(done, null, 'files');
    await until(async () =>
      expect(await progressOf(id)).toEqual({ done: 10_000, total: null, unit: 'files' }),
    );
    await reports.end();
    reports.report(10_001, null, 'files');
    await reports.end();
    expect(await progressOf(id)).toMatchObject({ done: 10_000 });
  });
});
