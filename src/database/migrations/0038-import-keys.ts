import type { ColumnTypes } from './column-types.ts';

/** Key pairs of installs, for imports by SSH from another host. */
export function importKeys(t: ColumnTypes): string[] {
  return [
    `create table import_keys (
      install_id ${t.uuid} not null constraint import_keys__install unique references installs (id) on delete cascade,
      public_key ${t.text} not null,
      sealed_key ${t.text} not null,
      created_at ${t.time} not null
    )`,
  ];
}
