import type { ColumnTypes } from './column-types.ts';

/** Jobs that run before those that wait in their lane, and when a job began to change a website. */
export function urgentJobs(t: ColumnTypes): string[] {
  return [
    `alter table jobs add column ahead ${t.boolean} not null default ${t.false}`,
    `alter table jobs add column begun_at ${t.time}`,
    'drop index jobs_lane_order',
    `create index jobs_lane_order on jobs (lane, ahead desc, seq) where state in ('queued', 'running')`,
  ];
}
