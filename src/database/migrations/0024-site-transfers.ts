import { notifying, writing } from './0005-change-feed.ts';
import type { ColumnTypes } from './column-types.ts';

/**
 * Transfers of sites between accounts, nicknames of accounts, and types of sites. A transfer outlives its site, and its
 * destination may be an id that no account has, so that neither column refers to a row.
 */
export function siteTransfers(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  return [
    `alter table accounts add column nickname ${t.text}`,
    dialect === 'postgres'
      ? `create trigger changes_accounts_nickname after update of nickname on accounts for each row
          when (old.nickname is distinct from new.nickname) execute function homeport_tell_accounts()`
      : `create trigger changes_accounts_nickname after update of nickname on accounts for each row
          when (old.nickname is distinct from new.nickname)
          begin
            insert into changes (topic, account_id, install_id, id, user_id)
              select 'account', new.id, null, new.id, null;
          end`,

    `alter table sites add column sandbox ${t.boolean} not null default ${t.false}`,
    `alter table sites add column transferable ${t.boolean} not null default ${t.false}`,

    `create table site_transfers (
      seq ${t.seq},
      id ${t.uuid} not null constraint site_transfers__id unique,
      site_id ${t.uuid} not null,
      site_name ${t.text} not null,
      installs ${t.json} not null,
      origin_account_id ${t.uuid} not null references accounts (id) on delete cascade,
      destination_account_id ${t.uuid} not null,
      status ${t.text} not null
        check (status in ('pending', 'scheduled', 'in_progress', 'completed', 'failed', 'cancelled')),
      awaits_acceptance ${t.boolean} not null,
      requested_by ${t.uuid} not null,
      accepted_by ${t.uuid},
      scheduled_time ${t.time},
      expires_at ${t.time} not null,
      reason ${t.text},
      created_at ${t.time} not null,
      updated_at ${t.time} not null
    )`,
    `create unique index site_transfers__site_id on site_transfers (site_id)
      where status in ('pending', 'scheduled', 'in_progress')`,
    'create index site_transfers_site on site_transfers (site_id, seq)',
    'create index site_transfers_origin on site_transfers (origin_account_id, seq)',
    'create index site_transfers_destination on site_transfers (destination_account_id, seq)',
    'create index site_transfers_age on site_transfers (updated_at)',
    ...(dialect === 'postgres' ? notifying : writing)({
      topic: 'transfer',
      table: 'site_transfers',
      events: ['insert', 'update'],
      what: `select account_id, null, it.id, null from (
          select it.origin_account_id as account_id union all select it.destination_account_id) as parties`,
    }),
  ];
}
