import type { ColumnTypes } from './column-types.ts';
import { rowTriggers } from './row-triggers.ts';

/**
 * The few rows for which an install may need attention, in indexes that have no others and name the install. The time of a check says
 * whether there was one: otherwise only the turn of the domain counts from then.
 */
export function doubtfulInstalls(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  return [
    "create index backups_aborted on backups (install_id) where status = 'aborted'",
    'create index install_quotas_reached on install_quotas (install_id) where threshold > 0',
    "create index installs_failed on installs (id) where status = 'failed'",
    'drop index domains_unreached',
    'create index domains_unreached on domains (install_id) where reached = false',
    'drop index domains_failed',
    "create index domains_failed on domains (install_id) where ssl_status = 'failed'",

    `alter table domain_looks add column was_checked ${t.boolean} not null default ${t.true}`,
    ...(dialect === 'postgres'
      ? ['drop trigger looked_domains_insert on domains', 'drop function homeport_looked_domains_insert()']
      : ['drop trigger looked_domains_insert']),
    ...rowTriggers(dialect, 'looked', 'domains', [
      {
        on: 'insert',
        run: `insert into domain_looks (domain_id, looked_at, was_checked) values (new.id, new.created_at, ${t.false});`,
      },
    ]),
  ];
}
