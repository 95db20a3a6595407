import type { ColumnTypes } from './column-types.ts';
import { rowTriggers } from './row-triggers.ts';

type Dialect = 'sqlite' | 'postgres';

/**
 * Lists of sites and installs are read from an index also by tag, by the number of installs of a site, and in the other orders of the portal.
 * Triggers keep the numbers: of installs in each site, and of sites and installs with each tag.
 */
export function websiteLists(t: ColumnTypes, dialect: Dialect): string[] {
  return [
    ...installOrders(),
    ...tables(t),
    ...filled(dialect),
    ...indexes(),
    ...tagCountTriggers(dialect),
    ...siteTagTriggers(dialect),
    ...siteSizeTriggers(dialect),
  ];
}

function installOrders(): string[] {
  return [
    "create index installs_php on installs (account_id, coalesce(php_version, ''), name)",
    // An expression, so that SQLite does not take it for the installs with waiting updates, whose own index has their names in order.
    'create index installs_updates on installs (account_id, (-waiting_updates), name)',
    `create index installs_environments on installs
      (account_id, (case environment when 'production' then 0 when 'staging' then 1 when 'development' then 2 else 3 end), name)`,
    'drop index installs_without_site',
    // With the empty column, so that SQLite prefers it to indexes that begin with the account alone.
    'create index installs_without_site on installs (account_id, site_id, name) where site_id is null',
    'create index sites_folded_name on sites (account_id, lower(name))',
  ];
}

function tables(t: ColumnTypes): string[] {
  return [
    `create table site_sizes (
      seq ${t.integer} primary key,
      site_id ${t.uuid} not null constraint site_sizes__site_id unique references sites (id) on update cascade on delete cascade,
      account_id ${t.uuid} not null,
      installs ${t.integer} not null
    )`,
    `create table site_tags (
      site_id ${t.uuid} not null references sites (id) on update cascade on delete cascade,
      key ${t.text} not null,
      tag ${t.text} not null,
      account_id ${t.uuid} not null,
      installs ${t.integer} not null,
      primary key (site_id, key)
    )`,
    `create table tag_counts (
      account_id ${t.uuid} not null references accounts (id) on delete cascade,
      key ${t.text} not null,
      tag ${t.text} not null,
      sites ${t.integer} not null,
      installs ${t.integer} not null,
      primary key (account_id, key)
    )`,
  ];
}

/** Reads the tags of a site with their keys, which are in the same order. Keys have no line breaks or other control characters. */
const tagsOf = (site: string, dialect: Dialect) =>
  dialect === 'postgres'
    ? {
        columns: 'tagged.key, tagged.tag',
        tables: `rows from (
          unnest(string_to_array(trim(both chr(10) from ${site}.tag_keys), chr(10))),
          jsonb_array_elements_text(${site}.tags)
        ) as tagged (key, tag)`,
      }
    : {
        columns: 'keys.value, tags.value',
        tables: `json_each('["' || replace(replace(replace(
          trim(${site}.tag_keys, char(10)), '\\', '\\\\'), '"', '\\"'), char(10), '","') || '"]') as keys
          join json_each(${site}.tags) as tags on tags.key = keys.key`,
      };

function filled(dialect: Dialect): string[] {
  const { columns, tables } = tagsOf('sites', dialect);
  return [
    `insert into site_sizes (seq, site_id, account_id, installs)
      select seq, id, account_id, (select count(*) from installs where site_id = sites.id) from sites`,
    `insert into site_tags (site_id, account_id, installs, key, tag)
      select sites.id, sites.account_id, size.installs, ${columns}
        from sites join site_sizes as size on size.site_id = sites.id
          ${dialect === 'postgres' ? 'cross join lateral' : 'join'} ${tables}
        where sites.tag_keys <> ''`,
    `insert into tag_counts (account_id, key, tag, sites, installs)
      select account_id, key, min(tag), count(*), sum(installs) from site_tags group by 1, 2`,
  ];
}

function indexes(): string[] {
  return [
    'create index site_sizes_account on site_sizes (account_id, installs, seq)',
    'create index site_tags_account on site_tags (account_id, key, site_id)',
  ];
}

function tagCountTriggers(dialect: Dialect): string[] {
  const lock = locked(dialect);
  return rowTriggers(dialect, 'counts', 'site_tags', [
    {
      on: 'insert',
      run: `${lock('new.account_id')}
        insert into tag_counts (account_id, key, tag, sites, installs) values (new.account_id, new.key, new.tag, 1, new.installs)
        on conflict (account_id, key) do update set tag = excluded.tag, sites = tag_counts.sites + 1,
          installs = tag_counts.installs + excluded.installs;`,
    },
    {
      on: 'update',
      of: ['installs'],
      run: `${lock('new.account_id')}
        update tag_counts set installs = installs + new.installs - old.installs
          where account_id = new.account_id and key = new.key;`,
    },
    {
      on: 'delete',
      run: `${lock('old.account_id')}
        update tag_counts set sites = sites - 1, installs = installs - old.installs
          where account_id = old.account_id and key = old.key;
        delete from tag_counts where account_id = old.account_id and key = old.key and sites = 0;`,
    },
  ]);
}

function siteTagTriggers(dialect: Dialect): string[] {
  const { columns, tables } = tagsOf('new', dialect);
  const lock = locked(dialect);
  const insert = `insert into site_tags (site_id, account_id, installs, key, tag)
    select new.id, new.account_id, coalesce((select installs from site_sizes where site_id = new.id), 0), ${columns}
      from ${tables} where new.tag_keys <> '';`;
  return [
    ...rowTriggers(dialect, 'sizes', 'sites', [
      {
        on: 'insert',
        run: `insert into site_sizes (seq, site_id, account_id, installs) values (new.seq, new.id, new.account_id, 0); ${insert}`,
      },
      {
        on: 'update',
        of: ['account_id', 'tag_keys', 'tags'],
        run: `${lock('old.account_id, new.account_id')}
          update site_sizes set account_id = new.account_id where site_id = new.id and account_id <> new.account_id;
          delete from site_tags where site_id = new.id; ${insert}`,
      },
    ]),
    ...rowTriggers(dialect, 'tags', 'site_sizes', [
      {
        on: 'update',
        of: ['installs'],
        run: 'update site_tags set installs = new.installs where site_id = new.site_id;',
      },
    ]),
  ];
}

function siteSizeTriggers(dialect: Dialect): string[] {
  const lock = locked(dialect);
  const change = (row: string, by: string) =>
    `update site_sizes set installs = installs ${by} where site_id = ${row}.site_id;`;
  return rowTriggers(dialect, 'size', 'installs', [
    { on: 'insert', run: change('new', '+ 1') },
    {
      on: 'update',
      of: ['site_id'],
      run: `${lock('new.account_id')} ${change('old', '- 1')} ${change('new', '+ 1')}`,
    },
    { on: 'delete', run: change('old', '- 1') },
  ]);
}

/**
 * On PostgreSQL, changes of counts lock the row of the account before all others, as those of `install_counts` do. So two transactions
 * cannot wait for each other.
 */
const locked = (dialect: Dialect) => (accounts: string) =>
  dialect === 'postgres'
    ? `perform 1 from accounts where id in (${accounts}) order by id for no key update;`
    : '';
