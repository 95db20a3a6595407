import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Queries } from '../../../database/database.ts';

/**
 * The domains of an install with the last check, the certificate and the order attempts of each, oldest first. Domains that share
 * an uploaded certificate have the id under which the list shows it.
 */
export function domainsWithCertificates(queries: Queries, installId: string) {
  return queries
    .selectFrom('domains as domain')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .leftJoin('certificate_attempts as attempt', 'attempt.domain_id', 'domain.id')
    .select((eb) => [
      eb.fn
        .coalesce(
          eb
            .selectFrom('certificates as shared')
            .select((of) => of.fn.min('shared.seq').as('seq'))
            .whereRef('shared.upload_id', '=', 'certificate.upload_id'),
          'certificate.seq',
        )
        .as('certificate_id'),
      'domain.id as domain_id',
      'domain.name',
      'domain.is_cname',
      'domain.needs_proof',
      'domain.ssl_reason',
      'domain.checked_at',
      'domain.reached',
      'certificate.source',
      'certificate.not_after',
      'certificate.renew_at',
      'attempt.failures',
      'attempt.order_id',
      'attempt.next_at',
    ])
    .where('domain.install_id', '=', installId)
    .orderBy('domain.seq')
    .execute();
}

export interface LastReport {
  seq: number;
  id: string;
}

/** The last report that was requested for each domain of an install. */
export async function lastReports(queries: Queries, installId: string): Promise<Map<string, LastReport>> {
  const rows = await queries
    .selectFrom('domain_reports')
    .select(['domain_id', 'seq', 'id'])
    .where('seq', 'in', (of) =>
      of
        .selectFrom('domain_reports')
        .select((eb) => eb.fn.max('seq').as('seq'))
        .where('install_id', '=', installId)
        .groupBy('domain_id'),
    )
    .execute();
  return new Map(rows.map(({ domain_id, ...report }) => [domain_id, report]));
}

const namedDomains = Type.Object({ domains: Type.Array(Type.Object({ name: Type.String() })) });

/** The names that reports cover, by report id. */
export async function namesIn(
  queries: Queries,
  reportIds: readonly string[],
): Promise<Map<string, string[]>> {
  if (reportIds.length === 0) return new Map();
  const rows = await queries
    .selectFrom('domain_reports')
    .select(['id', 'report'])
    .where('id', 'in', reportIds)
    .execute();
  return new Map(
    rows.map(({ id, report }) => [id, Value.Parse(namedDomains, report).domains.map(({ name }) => name)]),
  );
}
