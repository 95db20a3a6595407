import type { ColumnTypes } from './column-types.ts';

/** That nobody wants a running job any more has a column of its own; before, it was a job of no attempts. */
export function calledOffJobs(t: ColumnTypes): string[] {
  return [
    `alter table jobs add column called_off ${t.boolean} not null default ${t.false}`,
    `update jobs set called_off = ${t.true} where max_attempts = 0`,
  ];
}
