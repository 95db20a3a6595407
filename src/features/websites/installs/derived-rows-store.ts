import { type RawBuilder, sql } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import { keyOf, tagsIn } from '../site-tags/tag-keys.ts';

// Rows and columns that triggers derive from others, one by one: tags of sites, primary domains, the traffic of accounts, and outcomes of
// operations. Each comparison reads every row once, with look-ups by primary keys, so that it takes seconds for a million installs.

interface DerivedRows {
  /** The accounts in which they differ from what they derive from. */
  wrong: RawBuilder<{ account_id: string }>;
  /** Derives those of an account again. */
  repair(queries: Queries, accountId: string): Promise<void>;
}

const LINE_BREAK = sql`cast(${'\n'} as text)`;

/** A condition: a row is of the account, so that a repair does not read the rows of all others. Null: every row meets it. */
const isOf = (table: string, accountId: string | null) =>
  accountId === null ? sql`true` : sql`${sql.ref(`${table}.account_id`)} = ${accountId}`;

/** The sites whose rows in `site_tags` are others than their tags, or have other values. */
const wrongSites = (accountId: string | null = null) => sql`
  select site.id, site.account_id from site_tags as tagged
    join sites as site on site.id = tagged.site_id
    join site_sizes as size on size.site_id = site.id
    where ${isOf('site', accountId)}
      and (tagged.account_id <> site.account_id or tagged.installs <> size.installs
        or replace(site.tag_keys, ${LINE_BREAK} || tagged.key || ${LINE_BREAK}, '') = site.tag_keys)
  union
  select site.id, site.account_id from sites as site
    where ${isOf('site', accountId)} and site.tag_keys <> ''
      and length(site.tag_keys) - length(replace(site.tag_keys, ${LINE_BREAK}, '')) - 1
        <> (select count(*) from site_tags as tagged where tagged.site_id = site.id)`;

const siteTags: DerivedRows = {
  wrong: sql`select account_id from (${wrongSites()}) as wrong`,
  async repair(queries, accountId) {
    const sites = await queries
      .selectFrom('sites as site')
      .innerJoin('site_sizes as size', 'size.site_id', 'site.id')
      .select(['site.id', 'site.tags', 'size.installs'])
      .where(sql<boolean>`site.id in (select id from (${wrongSites(accountId)}) as wrong)`)
      .execute();
    for (const { id: site_id, tags, installs } of sites) {
      await queries.deleteFrom('site_tags').where('site_id', '=', site_id).execute();
      const rows = tagsIn(tags).map((tag) => ({
        site_id,
        key: keyOf(tag),
        tag,
        account_id: accountId,
        installs,
      }));
      if (rows.length > 0) await queries.insertInto('site_tags').values(rows).execute();
    }
  },
};

const PRIMARY_NAME = sql`coalesce((select name from domains where domains.install_id = install.id and is_primary), install.name)`;

const wrongDomains = (accountId: string | null = null) => sql`
  select install.id, install.account_id from installs as install
    left join primary_domains as named on named.install_id = install.id
    where ${isOf('install', accountId)}
      and (named.install_id is null or named.account_id <> install.account_id or named.name <> ${PRIMARY_NAME})`;

const primaryDomains: DerivedRows = {
  wrong: sql`select account_id from (${wrongDomains()}) as wrong`,
  async repair(queries, accountId) {
    await sql`
      insert into primary_domains (install_id, account_id, name)
        select install.id, install.account_id, ${PRIMARY_NAME} from installs as install
          where install.id in (select id from (${wrongDomains(accountId)}) as wrong)
        on conflict (install_id) do update set account_id = excluded.account_id, name = excluded.name`.execute(
      queries,
    );
  },
};

const number = (column: string) => sql`sum(cast(${sql.ref(column)} as double precision))`;

const countedDays = (where = sql``) => sql`
  select account_id, day, source, ${number('requests')} as requests, ${number('bytes')} as bytes,
      ${number('visits')} as visits, count(*) as installs
    from usage_traffic ${where} group by account_id, day, source`;

/** Whether the sums of both sides differ. They are exact up to 2^53; larger ones depend on the order of additions. */
const differs = (column: string) =>
  sql`abs(sum(side * ${sql.ref(column)})) > 0.5 + 0.000000001 * max(abs(${sql.ref(column)}))`;

const accountDays: DerivedRows = {
  wrong: sql`
    select account_id from (
      select 1 as side, account_id, day, source, requests, bytes, visits, installs from usage_account_days
      union all
      select -1 as side, account_id, day, source, requests, bytes, visits, installs from (${countedDays()}) as counted
    ) as sides
      group by account_id, day, source
      having count(*) <> 2 or sum(side * installs) <> 0
        or ${differs('requests')} or ${differs('bytes')} or ${differs('visits')}`,
  async repair(queries, accountId) {
    await queries.deleteFrom('usage_account_days').where('account_id', '=', accountId).execute();
    await sql`
      insert into usage_account_days (account_id, day, source, requests, bytes, visits, installs)
        ${countedDays(sql`where account_id = ${accountId}`)}`.execute(queries);
  },
};

const OUTCOME = sql`case when job.state in ('failed', 'cancelled') then job.state
  when job.state = 'succeeded' and operation.error_code is not null then 'failed' end`;

const wrongOutcomes = (accountId: string | null = null) => sql`
  select operation.seq, operation.account_id, ${OUTCOME} as outcome from operations as operation
    join jobs as job on job.id = operation.job_id
    where ${isOf('operation', accountId)} and operation.outcome is distinct from ${OUTCOME}`;

const outcomes: DerivedRows = {
  wrong: sql`select account_id from (${wrongOutcomes()}) as wrong`,
  async repair(queries, accountId) {
    await sql`
      update operations set outcome = known.outcome from (${wrongOutcomes(accountId)}) as known
        where known.seq = operations.seq`.execute(queries);
  },
};

const ALL = [siteTags, primaryDomains, accountDays, outcomes];

/** The ids of the accounts in which derived rows are wrong. */
export async function wronglyDerived(queries: Queries): Promise<ReadonlySet<string>> {
  const found = new Set<string>();
  for (const { wrong } of ALL) {
    const { rows } = await wrong.execute(queries);
    for (const { account_id } of rows) found.add(account_id);
  }
  return found;
}

/** Derives all rows of an account again that are wrong. */
export async function deriveAgain(queries: Queries, accountId: string): Promise<void> {
  for (const { repair } of ALL) await repair(queries, accountId);
}
