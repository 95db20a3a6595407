import type { ColumnTypes } from './column-types.ts';

/**
 * Deleted installs whose backups are kept for a while. They refer to no install, site or host, which can be gone. `kept`: what a
 * restore puts back (features/provisioning/deleted-installs/kept.ts).
 */
export function deletedInstalls(t: ColumnTypes): string[] {
  return [
    `create table deleted_installs (
      seq ${t.seq},
      id ${t.uuid} not null constraint deleted_installs__id unique,
      account_id ${t.uuid} not null references accounts (id) on delete cascade,
      name ${t.text} not null,
      host_id ${t.uuid},
      state ${t.text} not null check (state in ('deleting', 'kept')),
      backup_id ${t.uuid} not null,
      reason ${t.text},
      kept ${t.json} not null,
      deleted_at ${t.time} not null,
      expires_at ${t.time} not null
    )`,
    'create index deleted_installs_account on deleted_installs (account_id, seq)',
    'create index deleted_installs_name on deleted_installs (name)',
    'create index deleted_installs_expiry on deleted_installs (expires_at)',
  ];
}
