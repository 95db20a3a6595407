import { sql } from 'kysely';
import type { Database, Queries } from '../database/database.ts';

/** The owner and the size of a generated account. */
export interface LargeAccount {
  accountId: string;
  /** A member, who gets notifications. */
  userId: string;
  installs: number;
  /** Two hexadecimal digits that the ids of the account have in common. */
  series: string;
  /** Of all its installs. By default they are on the embedded host. */
  hostId?: string;
}

/** With the 16 MB of a connection, the indexes of a million installs are read and written again for each row. */
const FILLING_CACHE_KB = 1_000_000;

/** The id of the nth thing of a kind, in a generated account. */
export const generatedId = (series: string, kind: string, n: number): string =>
  `${series}${kind}00000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/**
 * Fills an account with sites, installs and what belongs to them, as years would: without triggers, in seconds. Of the installs, one in 400
 * has failed, one in ten waits for updates, and one in five is a staging install. One site in 20 has the tag `client`, one in 2,000 `rare`.
 */
export async function fillAccount(database: Database, account: LargeAccount): Promise<void> {
  const isPostgres = database.dialect === 'postgres';
  const run = (queries: Queries, statement: string) => sql.raw(statement).execute(queries);
  if (isPostgres) {
    // A busy machine takes longer than a request may.
    await database.withoutTimeLimit(async (queries) => {
      const statements = statementsOf(account, true);
      const transaction = ['begin', 'set local session_replication_role = replica', ...statements, 'commit'];
      for (const statement of [...transaction, 'analyze']) await run(queries, statement);
    });
    return;
  }
  await database.write(async ({ queries }) => {
    const { rows: sizes } = await sql<{ cache_size: number }>`pragma cache_size`.execute(queries);
    await run(queries, `pragma cache_size = ${-FILLING_CACHE_KB}`);
    const dropped = await droppedFollowers(queries);
    for (const statement of [...statementsOf(account, false), ...dropped]) await run(queries, statement);
    for (const { cache_size } of sizes) await run(queries, `pragma cache_size = ${cache_size}`);
  });
}

/** Drops what SQLite would keep with each row: triggers and indexes. Returns the statements that create them again. */
async function droppedFollowers(queries: Queries): Promise<string[]> {
  const { rows } = await sql<{ type: string; name: string; statement: string }>`
    select type, name, sql as statement from sqlite_schema where type in ('trigger', 'index') and sql is not null
      order by type`.execute(queries);
  for (const { type, name } of rows) await sql.raw(`drop ${type} ${name}`).execute(queries);
  return rows.map(({ statement }) => statement);
}

function statementsOf(account: LargeAccount, isPostgres: boolean): string[] {
  const { accountId, userId, installs, series, hostId } = account;
  const boolean = (condition: string) =>
    isPostgres ? `(${condition})` : `case when ${condition} then 1 else 0 end`;
  const digits = isPostgres ? "lpad(cast(n as text), 12, '0')" : "printf('%012d', n)";
  const uuid = (text: string) => (isPostgres ? `cast(${text} as uuid)` : text);
  const id = (kind: string) => uuid(`'${series}${kind}00000-0000-4000-8000-' || ${digits}`);
  const shared = (value: string) => uuid(`'${value}'`);
  const ago = (minutes: string) =>
    isPostgres
      ? `date_trunc('minute', now()) - (${minutes}) * interval '1 minute'`
      : `strftime('%Y-%m-%dT%H:%M:00.000Z', 'now', printf('%+d minutes', -(${minutes})))`;
  const day = (days: string) =>
    isPostgres
      ? `to_char(now() - (${days}) * interval '1 day', 'YYYY-MM-DD')`
      : `date('now', '-' || (${days}) || ' days')`;
  const json = (text: string) => (isPostgres ? `cast(${text} as jsonb)` : text);
  const name = `'i${series}x' || n`;
  const environment = "case when n % 5 = 0 then 'staging' else 'production' end";
  const status = "case when n % 400 = 0 then 'failed' else 'active' end";
  const waiting = 'case when n % 10 = 0 then 1 else 0 end';
  const account_id = shared(accountId);
  /** One row for each number from 1 to `count`. */
  const fill = (table: string, values: Record<string, string>, count = installs) =>
    `insert into ${table} (${Object.keys(values).join(', ')})
      with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < ${count})
      select ${Object.values(values).join(', ')} from numbers`;
  const tags = (of: (tags: string) => string) =>
    `case when n % 2000 = 0 then '${of('client,rare')}' when n % 20 = 0 then '${of('client')}' else '${of('')}' end`;
  const jsonOf = (text: string) => JSON.stringify(text === '' ? [] : text.split(','));
  const keysOf = (text: string) => (text === '' ? '' : `\n${text.replaceAll(',', '\n')}\n`);
  return [
    fill('sites', {
      ...{ id: id('a'), account_id, name: "'Site ' || n", created_at: ago(`${installs} - n`) },
      ...{ tags: json(tags(jsonOf)), tag_keys: tags(keysOf) },
    }),
    fill('installs', {
      ...{ id: id('b'), account_id, site_id: id('a'), environment, name, status, php_version: "'8.3'" },
      host_id: hostId === undefined ? 'null' : shared(hostId),
      ...{
        stable_ips: 'null',
        offload_file_name: "'a'",
        offload_file_content: "'b'",
        runtime: "'wordpress'",
      },
      ...{ created_at: ago(`${installs} - n`), waiting_updates: waiting, awaits_reading: boolean('false') },
    }),
    `insert into install_counts (account_id, status, environment, is_waiting, installs)
      select account_id, status, environment, waiting_updates > 0, count(*) from installs
        where account_id = ${account_id} group by 1, 2, 3, 4`,
    `insert into site_sizes (seq, site_id, account_id, installs)
      select seq, id, account_id, 1 from sites where account_id = ${account_id}`,
    ...['client', 'rare'].map(
      (key) => `insert into site_tags (site_id, key, tag, account_id, installs)
        select id, '${key}', '${key}', account_id, 1 from sites
          where account_id = ${account_id} and tag_keys like '%${key}%'`,
    ),
    `insert into tag_counts (account_id, key, tag, sites, installs)
      select account_id, key, min(tag), count(*), sum(installs) from site_tags where account_id = ${account_id} group by 1, 2`,
    `update accounts set install_count = ${installs}, site_count = ${installs} where id = ${account_id}`,
    ...['c', 'd'].map((kind) =>
      fill('domains', {
        ...{
          id: id(kind),
          install_id: id('b'),
          name: `${name} || '.${kind}.example'`,
          is_cname: boolean(`'${kind}' = 'c'`),
        },
        ...{
          is_primary: boolean(`'${kind}' = 'd'`),
          is_duplicate: boolean('false'),
          awaits_order: boolean('false'),
        },
        ...{
          network_status: "'ACTIVE'",
          ssl_status: "'active'",
          reached: boolean('true'),
          checked_at: ago('5'),
        },
        created_at: ago(`${installs} - n`),
      }),
    ),
    `insert into primary_domains (install_id, account_id, name)
      select install.id, install.account_id, domain.name from installs as install
        join domains as domain on domain.install_id = install.id and domain.is_primary
        where install.account_id = ${account_id}`,
    fill('domain_looks', { domain_id: id('d'), looked_at: ago('n % 720') }),
    // Not of the first: what is not a certificate cannot be shown.
    `${fill('certificates', {
      ...{
        domain_id: id('d'),
        source: "'LETS_ENCRYPT'",
        chain: "'a'",
        sealed_key: "'b'",
        not_before: ago('100'),
      },
      ...{ not_after: ago('-100000'), renew_at: ago('-60000'), created_at: ago('100') },
    })} where n > 100`,
    fill('wordpress_readings', {
      ...{ install_id: id('b'), reading: json(`'{}'`), core_version: "'7.1'", plugin_updates: waiting },
      ...{ theme_updates: '0', read_at: ago('60'), tried_at: ago('60'), due_at: ago('-600 - n % 700') },
    }),
    fill('usage_installs', { install_id: id('b'), account_id, host: "'embedded'", name, environment }),
    ...['1', '2'].map((days) =>
      fill('usage_traffic', {
        ...{
          install_id: id('b'),
          day: day(days),
          source: "'embedded'",
          account_id,
          requests: 'n',
          bytes: 'n',
        },
        visits: 'n',
      }),
    ),
    `insert into usage_account_days (account_id, day, source, requests, bytes, visits, installs)
      select account_id, day, source, sum(requests), sum(bytes), sum(visits), count(*)
        from usage_traffic where account_id = ${account_id} group by account_id, day, source`,
    fill('usage_storage', {
      ...{ install_id: id('b'), day: day('1'), account_id, file_bytes: 'n', measured_at: ago('60') },
    }),
    `insert into usage_measurements (account_id, measured_at) values (${account_id}, ${ago('60')})`,
    fill('jobs', {
      ...{
        id: id('e'),
        kind: "'apply_install'",
        payload: json(`'{}'`),
        state: "'succeeded'",
        max_attempts: '1',
      },
      ...{ run_at: ago('n % 40000'), created_at: ago('n % 40000'), finished_at: ago('n % 40000') },
    }),
    fill('operations', {
      ...{ id: id('e'), kind: "'install.create'", job_id: id('e'), account_id, install_id: id('b') },
      ...{ install_name: name, created_at: ago(`(${installs} - n) % 40000`) },
    }),
    fill('activity', {
      ...{
        id: id('f'),
        account_id,
        at: ago(`(${installs} - n) % 500000`),
        action: "'install.create'",
        subject_id: id('b'),
      },
      ...{
        subject_name: name,
        install_id: id('b'),
        install_name: name,
        user_name: "'Ada'",
        means: "'portal'",
      },
    }),
    fill('events', {
      ...{
        id: id('f'),
        position: `${Number.parseInt(series, 16)} * 10000000 + n`,
        type: "'install.created'",
        account_id,
      },
      ...{
        install_id: id('b'),
        subject_id: id('b'),
        data: json(`'{}'`),
        created_at: ago(`(${installs} - n) % 40000`),
      },
    }),
    fill(
      'notifications',
      {
        ...{
          id: id('f'),
          user_id: shared(userId),
          account_id,
          category: "'backups'",
          problem: "'backup_failed'",
        },
        ...{ subject: "'s' || n", install_id: id('b'), install_name: name, facts: json(`'{}'`) },
        ...{
          first_at: ago('n'),
          last_at: ago('n'),
          read_at: `case when n % 2 = 0 then ${ago('1')} end`,
        },
      },
      Math.min(installs, 1_000),
    ),
    fill('uptime_incidents', {
      ...{
        id: id('f'),
        install_id: id('b'),
        account_id,
        cause: "'status'",
        message: "'It failed'",
        started_at: ago('n % 100000 + 10'),
      },
      ...{ confirmed_at: ago('n % 100000 + 9'), ended_at: ago('n % 100000 + 5'), end_kind: "'recovered'" },
    }),
    fill('backups', {
      ...{ id: id('f'), install_id: id('b'), description: "'Daily'", notification_emails: json(`'[]'`) },
      ...{
        status: "'completed'",
        bytes: 'n',
        files: 'n',
        sha256: "'a'",
        created_at: ago('100'),
        finished_at: ago('90'),
      },
    }),
  ];
}
