import type { ColumnTypes } from './column-types.ts';

/** Backups made to copy a website into another install, and deleted afterwards. */
export function backupsForCopies(t: ColumnTypes): string[] {
  return [`alter table backups add column copy_job_id ${t.uuid}`];
}
