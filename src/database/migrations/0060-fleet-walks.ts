import { writing } from './0005-change-feed.ts';
import type { ColumnTypes } from './column-types.ts';
import { rowTriggers } from './row-triggers.ts';

type Dialect = 'sqlite' | 'postgres';

/**
 * Recurring work finds the few rows of the whole fleet that are due in an index. A missing row is found in no index, so
 * domains without an order and installs without a reading are marked, and each domain has the time of a check from its creation on.
 */
export function fleetWalks(t: ColumnTypes, dialect: Dialect): string[] {
  return [
    'create index installs_lost on installs (id) where lost_data is not null',
    `create index installs_watched on installs (seq)
      where status = 'active' and environment = 'production' and awaits_copy = false`,
    // SQLite uses a partial index for the same words only: `false`, not 0.
    'create index domains_unreached on domains (id) where reached = false',
    // Sums over all accounts.
    'create index install_counts_values on install_counts (status, environment, installs)',
    "create index domains_failed on domains (id) where ssl_status = 'failed'",
    'create index domains_refused on domains (id) where ssl_reason is not null',

    ...marked(t, dialect, {
      table: 'installs',
      column: 'awaits_reading',
      by: { table: 'wordpress_readings', id: 'install_id' },
      what: 'select it.account_id, it.id, it.id, null',
    }),
    `create index installs_unread on installs (seq)
      where awaits_reading = true and status = 'active' and (host_id is not null or runtime = 'wordpress')`,
    ...marked(t, dialect, {
      table: 'domains',
      column: 'awaits_order',
      by: { table: 'certificate_attempts', id: 'domain_id' },
      what: 'select account_id, id, it.id, null from installs where id = it.install_id',
    }),
    `create index domains_unordered on domains (seq)
      where awaits_order = true and is_duplicate = false and network_status = 'ACTIVE'`,

    `insert into domain_looks (domain_id, looked_at)
      select id, coalesce(checked_at, created_at) from domains
        where id not in (select domain_id from domain_looks)`,
    'create index domain_looks_looked on domain_looks (looked_at)',
    ...rowTriggers(dialect, 'looked', 'domains', [
      {
        on: 'insert',
        run: 'insert into domain_looks (domain_id, looked_at) values (new.id, new.created_at);',
      },
    ]),
  ];
}

interface Marked {
  table: string;
  column: string;
  /** The table that has a row for each unmarked one. */
  by: { table: string; id: string };
  /** As in the change feed: the changes of the marked table. */
  what: string;
}

/** Marks the rows that another table has no row for. */
function marked(t: ColumnTypes, dialect: Dialect, { table, column, by, what }: Marked): string[] {
  const fill = `update ${table} set ${column} = ${t.false} where id in (select ${by.id} from ${by.table})`;
  const mark = (row: string, value: string) =>
    `update ${table} set ${column} = ${value} where id = ${row}.${by.id} and ${column} <> ${value};`;
  return [
    `alter table ${table} add column ${column} ${t.boolean} not null default ${t.true}`,
    // A mark is no change that users follow.
    ...(dialect === 'postgres'
      ? [
          `alter table ${table} disable trigger changes_${table}_update`,
          fill,
          `alter table ${table} enable trigger changes_${table}_update`,
        ]
      : [
          `drop trigger changes_${table}_update`,
          fill,
          ...writing({ topic: table.slice(0, -1), table, events: ['update'], what }),
        ]),
    ...rowTriggers(dialect, 'mark', by.table, [
      { on: 'insert', run: mark('new', t.false) },
      { on: 'delete', run: mark('old', t.true) },
    ]),
  ];
}
