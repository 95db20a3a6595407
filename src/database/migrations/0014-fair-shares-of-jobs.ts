import type { ColumnTypes } from './column-types.ts';

/** Jobs are claimed by class (short or long) and in turn by share (an account or the platform). */
export function fairSharesOfJobs(t: ColumnTypes): string[] {
  return [
    `alter table jobs add column class ${t.text} not null default 'short'
      constraint jobs_class_check check (class in ('short', 'long'))`,
    `alter table jobs add column share ${t.text} not null default 'platform'`,
    `alter table jobs add column behind ${t.boolean} not null default ${t.false}`,

    `update jobs set class = 'long' where state in ('queued', 'running') and kind in
      ('create_backup', 'restore_backup', 'copy_install', 'check_restore', 'discard_backup')`,
    `update jobs set share = coalesce(
        (select cast(account_id as text) from installs where cast(id as text) = jobs.lane), 'platform')
      where state in ('queued', 'running') and lane is not null`,
    `update jobs set behind = ${t.true} where state = 'queued' and exists (
        select 1 from jobs as other
        where other.lane = jobs.lane and other.state in ('queued', 'running') and other.seq < jobs.seq)`,

    // The order in which a share's jobs are claimed. The claim query walks from share to share along this index.
    `create index jobs_turns on jobs (class, share, run_at, seq) where state = 'queued' and behind = false`,
    `create index jobs_behind on jobs (lane, seq) where state = 'queued' and behind = true`,
  ];
}
