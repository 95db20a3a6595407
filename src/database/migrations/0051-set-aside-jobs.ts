import type { ColumnTypes } from './column-types.ts';

/** Which jobs ran when a worker's process died, which jobs are set aside because of that, and which workers stop in order. */
export function setAsideJobs(t: ColumnTypes): string[] {
  return [
    `alter table workers add column stopping ${t.boolean} not null default ${t.false}`,

    `create table job_deaths (
      job_id ${t.uuid} not null references jobs (id) on delete cascade,
      worker_id ${t.uuid} not null,
      work ${t.text} not null,
      process ${t.text} not null,
      started_at ${t.time} not null,
      died_at ${t.time} not null,
      primary key (job_id, worker_id)
    )`,
    'create index job_deaths_worker on job_deaths (worker_id)',

    `create table set_aside_jobs (
      job_id ${t.uuid} primary key references jobs (id) on delete cascade,
      work ${t.text} not null,
      set_aside_at ${t.time} not null,
      is_repeatable ${t.boolean} not null
    )`,
  ];
}
