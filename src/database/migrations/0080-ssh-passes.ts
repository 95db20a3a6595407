import type { ColumnTypes } from './column-types.ts';

/** Keys of SSH sessions that one host passes on to another. A row lives for seconds. */
export function sshPasses(t: ColumnTypes): string[] {
  return [
    `create table ssh_passes (
      fingerprint ${t.text} primary key,
      install_id ${t.uuid} not null,
      user_id ${t.uuid} not null,
      users_fingerprint ${t.text} not null,
      address ${t.text},
      from_host ${t.uuid} not null,
      to_host ${t.uuid} not null,
      expires_at ${t.time} not null
    )`,
    'create index ssh_passes__expires_at on ssh_passes (expires_at)',
  ];
}
