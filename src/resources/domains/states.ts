import type { Caller } from '../../access/caller.ts';
import { authorize } from '../../access/permissions.ts';
import type { Queries } from '../../database/database.ts';
import type { CertificateSource } from '../../database/tables.ts';
import { findStanding } from '../installs/store.ts';

/** What stands behind the words of a domain. */
export interface DomainState {
  domain_id: string;
  is_cname: boolean;
  /** Why the authority has issued no certificate, one sentence. */
  ssl_reason: string | null;
  /** When a status report last looked. */
  checked_at: string | null;
  /** The last status report, for as long as it is kept. */
  report_id: string | null;
  certificate: { source: CertificateSource; not_after: string } | null;
}

/** How all domains of an install stand, oldest first. Throws NotFound. */
export async function domainStates(
  queries: Queries,
  caller: Caller,
  installId: string,
): Promise<DomainState[]> {
  authorize('install.read', 'install.read', await findStanding(queries, caller, installId));
  const [domains, reports] = await Promise.all([
    queries
      .selectFrom('domains as domain')
      .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
      .select([
        'domain.id as domain_id',
        'domain.is_cname',
        'domain.ssl_reason',
        'domain.checked_at',
        'certificate.source',
        'certificate.not_after',
      ])
      .where('domain.install_id', '=', installId)
      .orderBy('domain.seq')
      .execute(),
    lastReports(queries, installId),
  ]);
  return domains.map(({ source, not_after, ...domain }) => ({
    ...domain,
    report_id: reports.get(domain.domain_id) ?? null,
    certificate: source === null || not_after === null ? null : { source, not_after },
  }));
}

/** The last report of each domain of an install that has one. */
async function lastReports(queries: Queries, installId: string): Promise<Map<string, string>> {
  const rows = await queries
    .selectFrom('domain_reports')
    .select(['domain_id', 'id'])
    .where('seq', 'in', (of) =>
      of
        .selectFrom('domain_reports')
        .select((eb) => eb.fn.max('seq').as('seq'))
        .where('install_id', '=', installId)
        .groupBy('domain_id'),
    )
    .execute();
  return new Map(rows.map(({ domain_id, id }) => [domain_id, id]));
}
