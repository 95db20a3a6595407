import type { ColumnTypes } from './column-types.ts';

/**
 * The public addresses of a host's websites. A change causes events for the domains of its installs (as in 0005).
 */
export function edgeAddressesOfHosts(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  const changed = 'when (old.edge_addresses is distinct from new.edge_addresses)';
  return [
    `alter table hosts add column edge_addresses ${t.json} not null default '[]'`,
    ...(dialect === 'postgres'
      ? [
          `create function homeport_tell_hosts() returns trigger language plpgsql as $$
          begin
            perform pg_notify('homeport_changes', json_build_object('topic', 'domain', 'account_id', account_id,
              'install_id', id, 'id', null, 'user_id', null)::text)
            from installs where host_id = new.id;
            return null;
          end $$`,
          `create trigger changes_hosts_update after update of edge_addresses on hosts for each row
          ${changed} execute function homeport_tell_hosts()`,
        ]
      : [
          `create trigger changes_hosts_update after update of edge_addresses on hosts for each row ${changed}
          begin
            insert into changes (topic, account_id, install_id, id, user_id)
              select 'domain', account_id, id, null, null from installs where host_id = new.id;
          end`,
        ]),
  ];
}
