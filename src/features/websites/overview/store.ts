import { type ExpressionBuilder, sql } from 'kysely';
import { inScope, type Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';
import type { OperationKind } from '../../../lib/operation.ts';
import { patternOf } from './search-store.ts';

type InstallExpressions = ExpressionBuilder<Tables & { install: Tables['installs'] }, 'install'>;

// Functions with `ids` want those of installs that the caller may see. Asking for the account again would let SQLite read all its active
// installs instead of these.

/** The first matching domain, by name, of each of these installs that has any. */
export async function installsByDomain(
  queries: Queries,
  texts: readonly string[],
  ids: readonly string[],
): Promise<{ install_id: string; name: string }[]> {
  const holding = texts.map(patternOf);
  return queries
    .selectFrom('installs as install')
    .innerJoin('domains as domain', 'domain.install_id', 'install.id')
    .select((eb) => ['domain.install_id', eb.fn.min('domain.name').as('name')])
    .where('install.id', 'in', ids)
    .where(({ or }) => or(holding.map((pattern) => sql<boolean>`domain.name like ${pattern} escape '\\'`)))
    .groupBy('domain.install_id')
    .execute();
}

/** The last operations of some kinds of these installs, if they have failed: by kind and install. */
export async function lastFailedOperations(
  queries: Queries,
  kinds: readonly OperationKind[],
  ids: readonly string[],
): Promise<{ id: string; kind: string; install_id: string | null }[]> {
  return queries
    .selectFrom('operations as operation')
    .innerJoin('jobs as job', 'job.id', 'operation.job_id')
    .select(['operation.id', 'operation.kind', 'operation.install_id'])
    .where('operation.install_id', 'in', ids)
    .where('operation.kind', 'in', kinds)
    .where('job.state', '=', 'failed')
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('operations as later')
            .select('later.id')
            .whereRef('later.install_id', '=', 'operation.install_id')
            .whereRef('later.kind', '=', 'operation.kind')
            .whereRef('later.seq', '>', 'operation.seq'),
        ),
      ),
    )
    .execute();
}

/** Those among `ids` whose provisioning failed. */
export async function failedInstalls(
  queries: Queries,
  ids: readonly string[],
): Promise<{ install_id: string; install_name: string }[]> {
  return queries
    .selectFrom('installs as install')
    .select(['install.id as install_id', 'install.name as install_name'])
    .where('install.id', 'in', ids)
    .where('install.status', '=', 'failed')
    .execute();
}

/** Those among `ids` that are closed to visitors because data is missing. */
export async function closedInstalls(queries: Queries, ids: readonly string[]) {
  return queries
    .selectFrom('installs as install')
    .select(['install.id as install_id', 'install.name as install_name', 'install.lost_data'])
    .where('install.id', 'in', ids)
    .where('install.lost_data', 'is not', null)
    .execute();
}

/** The limits of disk space and files that installs among `ids` have almost reached. */
export async function reachedQuotas(queries: Queries, ids: readonly string[]) {
  return queries
    .selectFrom('installs as install')
    .innerJoin('install_quotas as reached', 'reached.install_id', 'install.id')
    .select(['install.id as install_id', 'install.name as install_name'])
    .select(['reached.limited', 'reached.used', 'reached.allowed', 'reached.measured_at'])
    .where('install.id', 'in', ids)
    .where('reached.threshold', '>', 0)
    .orderBy('reached.limited')
    .execute();
}

/** Aborted backups of `ids` that are the latest finished backup of their install. */
export async function failedBackups(queries: Queries, ids: readonly string[]) {
  return queries
    .selectFrom('installs as install')
    .innerJoin('backups as backup', 'backup.install_id', 'install.id')
    .select(['backup.install_id', 'install.name as install_name', 'backup.finished_at', 'backup.reason'])
    .select('backup.checkpoint')
    .where('install.id', 'in', ids)
    .where('backup.status', '=', 'aborted')
    .where('backup.copy_job_id', 'is', null)
    .where('backup.deleting', '=', false)
    .where('backup.seq', '=', (eb) =>
      eb
        .selectFrom('backups as last')
        .select('last.seq')
        .whereRef('last.install_id', '=', 'install.id')
        .where('last.status', 'in', ['completed', 'aborted'])
        .where('last.copy_job_id', 'is', null)
        .where('last.deleting', '=', false)
        .orderBy('last.seq', 'desc')
        .limit(1),
    )
    .execute();
}

/**
 * The condition that an install needs attention: it failed, it lost data, its last backup failed, or it has almost reached a limit of its files. The same holds if a served domain
 * does not reach this platform, or has no certificate that is valid after `soon`.
 */
export function needsAttention(eb: InstallExpressions, soon: string) {
  const lastBackup = eb
    .selectFrom('backups as last')
    .select('last.status')
    .whereRef('last.install_id', '=', 'install.id')
    .where('last.status', 'in', ['completed', 'aborted'])
    .where('last.copy_job_id', 'is', null)
    .where('last.deleting', '=', false)
    .orderBy('last.seq', 'desc')
    .limit(1);
  const doubtful = eb
    .selectFrom('domains as doubtful')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'doubtful.id')
    .select('doubtful.id')
    .whereRef('doubtful.install_id', '=', 'install.id')
    .where('doubtful.is_duplicate', '=', false)
    .where((domain) =>
      domain.or([
        domain('doubtful.reached', '=', false),
        domain('doubtful.ssl_status', '=', 'failed'),
        domain('certificate.not_after', '<=', soon),
      ]),
    );
  const reached = eb
    .selectFrom('install_quotas as reached')
    .select('reached.install_id')
    .whereRef('reached.install_id', '=', 'install.id')
    .where('reached.threshold', '>', 0);
  return eb.or([
    eb('install.status', '=', 'failed'),
    eb('install.lost_data', 'is not', null),
    eb(lastBackup, '=', 'aborted'),
    eb.exists(reached),
    eb.and([eb('install.status', '=', 'active'), eb.exists(doubtful)]),
  ]);
}

/** The installs to look at. Certificates that end by `soon` need attention. */
interface Looked {
  ids: readonly string[] | undefined;
  soon: string;
}

/** Ids of installs that may need attention, from indexes that have no others: literals, so that the databases use them. */
export const doubted = (queries: Queries, soon: string) =>
  queries
    .selectFrom('installs')
    .select('id')
    .where('status', '=', sql.lit('failed'))
    .union(queries.selectFrom('installs').select('id').where('lost_data', 'is not', null))
    .union(queries.selectFrom('backups').select('install_id as id').where('status', '=', sql.lit('aborted')))
    .union(
      queries.selectFrom('install_quotas').select('install_id as id').where('threshold', '>', sql.lit(0)),
    )
    .union(queries.selectFrom('domains').select('install_id as id').where('reached', '=', sql.lit(false)))
    .union(
      queries.selectFrom('domains').select('install_id as id').where('ssl_status', '=', sql.lit('failed')),
    )
    .union(
      queries
        .selectFrom('certificates')
        .innerJoin('domains', 'domains.id', 'certificates.domain_id')
        .select('domains.install_id as id')
        .where('certificates.not_after', '<=', soon),
    );

/** The installs that need attention. A cross join, because SQLite would begin with all installs of the account. */
const inNeed = (queries: Queries, scope: Scope, { ids, soon }: Looked) =>
  queries
    .with(
      (name) => name('doubted').materialized(),
      () => doubted(queries, soon),
    )
    .selectFrom('doubted')
    .crossJoin('installs as install')
    .whereRef('install.id', '=', 'doubted.id')
    .where((eb) =>
      eb.and([
        inScope(eb, scope),
        ...(ids === undefined ? [] : [eb('install.id', 'in', ids)]),
        needsAttention(eb, soon),
      ]),
    );

/** The number of installs of a scope that need attention. */
export async function countInNeed(queries: Queries, scope: Scope, looked: Looked): Promise<number> {
  const { count } = await inNeed(queries, scope, looked)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** One page of the installs of a scope that need attention: those that failed or lost data first, then by name. */
export async function installsInNeed(
  queries: Queries,
  scope: Scope,
  { limit, offset, ...looked }: Looked & { limit: number; offset: number },
): Promise<string[]> {
  const rows = await inNeed(queries, scope, looked)
    .select('install.id')
    .orderBy((eb) =>
      eb
        .case()
        .when('install.status', '=', 'failed')
        .then(0)
        .when('install.lost_data', 'is not', null)
        .then(1)
        .else(2)
        .end(),
    )
    .orderBy('install.name')
    .orderBy('install.seq')
    .limit(limit)
    .offset(offset)
    .execute();
  return rows.map(({ id }) => id);
}

/** A domain of a served website that may need attention. */
export interface DoubtfulDomain {
  install_id: string;
  install_name: string;
  name: string;
  reached: boolean | null;
  /** When a status report observed that. */
  checked_at: string | null;
  /** When the platform last checked it. */
  looked_at: string | null;
  /** The last attempt to issue a certificate failed, and no certificate is served. */
  without_certificate: boolean;
  ssl_reason: string | null;
  not_after: string | null;
}

/**
 * Domains of the served websites among `ids` that do not reach this platform, or whose certificate is missing or expires before `soon`.
 */
export async function doubtfulDomains(
  queries: Queries,
  soon: string,
  ids: readonly string[],
): Promise<DoubtfulDomain[]> {
  const rows = await queries
    .selectFrom('installs as install')
    .innerJoin('domains as domain', 'domain.install_id', 'install.id')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .leftJoin('domain_looks as look', (join) =>
      join.onRef('look.domain_id', '=', 'domain.id').on('look.was_checked', '=', true),
    )
    .select([
      'domain.install_id',
      'install.name as install_name',
      'domain.name',
      'domain.reached',
      'domain.checked_at',
      'look.looked_at',
      'domain.ssl_status',
      'domain.ssl_reason',
      'certificate.not_after',
    ])
    .where('install.id', 'in', ids)
    .where('install.status', '=', 'active')
    .where('domain.is_duplicate', '=', false)
    .where((eb) =>
      eb.or([
        eb('domain.reached', '=', false),
        eb('domain.ssl_status', '=', 'failed'),
        eb('certificate.not_after', '<=', soon),
      ]),
    )
    .orderBy('domain.seq')
    .execute();
  return rows.map(({ ssl_status, ...domain }) => ({
    ...domain,
    without_certificate: ssl_status === 'failed',
  }));
}

/** Which first steps were taken in an account. */
export async function stepsTaken(queries: Queries, accountId: string) {
  const installs = queries.selectFrom('installs as install').where('install.account_id', '=', accountId);
  const [site, install, domain, backup, people] = await Promise.all([
    queries.selectFrom('sites').select('id').where('account_id', '=', accountId).limit(1).execute(),
    installs.select('install.id').limit(1).execute(),
    installs
      .innerJoin('domains as domain', 'domain.install_id', 'install.id')
      .select('domain.id')
      .where('domain.is_cname', '=', false)
      .limit(1)
      .execute(),
    installs
      .innerJoin('backups as backup', 'backup.install_id', 'install.id')
      .select('backup.id')
      .where('backup.status', '=', 'completed')
      .limit(1)
      .execute(),
    queries
      .selectFrom('memberships')
      .select('user_id')
      .where('account_id', '=', accountId)
      .limit(2)
      .execute(),
  ]);
  return {
    site: site.length > 0,
    install: install.length > 0,
    domain: domain.length > 0,
    backup: backup.length > 0,
    person: people.length > 1,
  };
}
