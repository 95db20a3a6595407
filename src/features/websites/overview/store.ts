import { sql } from 'kysely';
import { inScope, type Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import { patternOf } from './search-store.ts';

/** One name a piece of the installs of a scope that have a domain whose name holds one of the texts. */
export async function installsByDomain(
  queries: Queries,
  scope: Scope,
  texts: readonly string[],
): Promise<{ install_id: string; name: string }[]> {
  const holding = texts.map(patternOf);
  return queries
    .selectFrom('installs as install')
    .innerJoin('domains as domain', 'domain.install_id', 'install.id')
    .select((eb) => ['domain.install_id', eb.fn.min('domain.name').as('name')])
    .where((eb) => inScope(eb, scope))
    .where(({ or }) => or(holding.map((pattern) => sql<boolean>`domain.name like ${pattern} escape '\\'`)))
    .groupBy('domain.install_id')
    .execute();
}

/** The installs of a scope that could not be made, oldest first. */
export async function failedInstalls(queries: Queries, scope: Scope): Promise<{ install_id: string }[]> {
  return queries
    .selectFrom('installs as install')
    .select('install.id as install_id')
    .where((eb) => inScope(eb, scope))
    .where('install.status', '=', 'failed')
    .orderBy('install.seq')
    .execute();
}

/** The backups of a scope's installs that were given up and are the last of their install that came to an end. */
export async function failedBackups(queries: Queries, scope: Scope) {
  return queries
    .selectFrom('installs as install')
    .innerJoin('backups as backup', 'backup.install_id', 'install.id')
    .select(['backup.install_id', 'backup.finished_at', 'backup.reason'])
    .where((eb) => inScope(eb, scope))
    .where('backup.status', '=', 'aborted')
    .where('backup.copy_job_id', 'is', null)
    .where('backup.seq', '=', (eb) =>
      eb
        .selectFrom('backups as last')
        .select('last.seq')
        .whereRef('last.install_id', '=', 'install.id')
        .where('last.status', 'in', ['completed', 'aborted'])
        .where('last.copy_job_id', 'is', null)
        .orderBy('last.seq', 'desc')
        .limit(1),
    )
    .execute();
}

/** A domain of a served website of which something may be said. */
export interface DoubtfulDomain {
  install_id: string;
  name: string;
  reached: boolean | null;
  /** When a status report saw that. */
  checked_at: string | null;
  /** When the platform last looked by itself. */
  looked_at: string | null;
  /** The last try to get a certificate has failed, and none serves. */
  without_certificate: boolean;
  ssl_reason: string | null;
  not_after: string | null;
}

/** The domains of a scope's served websites that do not lead here, have no certificate, or have one that ends before `soon`. */
export async function doubtfulDomains(
  queries: Queries,
  scope: Scope,
  soon: string,
): Promise<DoubtfulDomain[]> {
  const rows = await queries
    .selectFrom('installs as install')
    .innerJoin('domains as domain', 'domain.install_id', 'install.id')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .leftJoin('domain_looks as look', 'look.domain_id', 'domain.id')
    .select([
      'domain.install_id',
      'domain.name',
      'domain.reached',
      'domain.checked_at',
      'look.looked_at',
      'domain.ssl_status',
      'domain.ssl_reason',
      'certificate.not_after',
    ])
    .where((eb) => inScope(eb, scope))
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
