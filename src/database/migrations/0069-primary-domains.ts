import type { ColumnTypes } from './column-types.ts';
import { rowTriggers } from './row-triggers.ts';

/**
 * The primary domain of each install, or its name without one, in the order of the list of an account. Triggers keep it. It is no column of
 * the install, whose other indexes and followers have nothing to do with a domain.
 */
export function primaryDomains(t: ColumnTypes, dialect: 'sqlite' | 'postgres'): string[] {
  const nameOf = (install: string) =>
    `coalesce((select name from domains where install_id = ${install}.id and is_primary), ${install}.name)`;
  const rename = (row: string) =>
    `update primary_domains set name = (select ${nameOf('installs')} from installs where id = ${row}.install_id)
      where install_id = ${row}.install_id and exists (select 1 from installs where id = ${row}.install_id);`;
  return [
    `create table primary_domains (
      install_id ${t.uuid} primary key references installs (id) on delete cascade,
      account_id ${t.uuid} not null,
      name ${t.text} not null
    )`,
    `insert into primary_domains (install_id, account_id, name) select id, account_id, ${nameOf('installs')} from installs`,
    'create index primary_domains_account on primary_domains (account_id, name)',
    ...rowTriggers(dialect, 'named', 'installs', [
      {
        on: 'insert',
        run: 'insert into primary_domains (install_id, account_id, name) values (new.id, new.account_id, new.name);',
      },
      {
        on: 'update',
        of: ['account_id'],
        run: 'update primary_domains set account_id = new.account_id where install_id = new.id;',
      },
    ]),
    ...rowTriggers(dialect, 'primary', 'domains', [
      {
        on: 'insert',
        run: 'update primary_domains set name = new.name where install_id = new.install_id and new.is_primary;',
      },
      { on: 'update', of: ['is_primary', 'name', 'install_id'], run: `${rename('old')} ${rename('new')}` },
      { on: 'delete', run: rename('old') },
    ]),
  ];
}
