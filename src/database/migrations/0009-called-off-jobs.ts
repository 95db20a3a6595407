import type { ColumnTypes } from './column-types.ts';

/** Adds a column for cancelled running jobs. Before, a job with no attempts left meant this. */
export function calledOffJobs(t: ColumnTypes): string[] {
  return [
    `alter table jobs add column called_off ${t.boolean} not null default ${t.false}`,
    `update jobs set called_off = ${t.true} where max_attempts = 0`,
  ];
}
