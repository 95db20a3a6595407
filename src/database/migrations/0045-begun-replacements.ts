import type { ColumnTypes } from './column-types.ts';

/**
 * Marks jobs of earlier versions, which did not note when they began to change a website: otherwise its checkpoint is not put back.
 */
export function begunReplacements(_: ColumnTypes): string[] {
  return [
    `update jobs set begun_at = started_at where kind in ('restore_backup', 'copy_install')
       and state in ('queued', 'running') and attempt > 0 and begun_at is null`,
  ];
}
