import type { Queries } from '../../../../database/database.ts';
import type { CertificateSource } from '../../../../database/tables/certificates.ts';
import { isUnwarned, type WarningThreshold } from '../warning-thresholds-store.ts';

/** A domain that an install serves, with its certificate; null without one. */
export interface ServedDomain {
  id: string;
  name: string;
  source: CertificateSource | null;
  sealed_key: string | null;
  not_after: string | null;
}

/** The domains that an install serves, oldest first. */
export function servedDomainsOf(queries: Queries, installId: string): Promise<ServedDomain[]> {
  return queries
    .selectFrom('domains as domain')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .select([
      'domain.id',
      'domain.name',
      'certificate.source',
      'certificate.sealed_key',
      'certificate.not_after',
    ])
    .where('domain.install_id', '=', installId)
    .where('domain.is_duplicate', '=', false)
    .orderBy('domain.seq')
    .execute();
}

/** The uploaded certificates that an install serves and that are valid after a time, one for each domain, latest first. */
export function uploadsOfInstall(queries: Queries, installId: string, after: string) {
  return queries
    .selectFrom('certificates as certificate')
    .innerJoin('domains as domain', 'domain.id', 'certificate.domain_id')
    .select([
      'certificate.upload_id',
      'certificate.chain',
      'certificate.sealed_key',
      'certificate.not_before',
      'certificate.not_after',
      'certificate.renew_at',
      'certificate.warned_days',
      'certificate.created_at',
    ])
    .where('domain.install_id', '=', installId)
    .where('certificate.source', '=', 'THIRD_PARTY')
    .where('certificate.not_after', '>', after)
    .orderBy('certificate.created_at', 'desc')
    .orderBy('certificate.seq')
    .execute();
}

/** Removes the reasons for which the authority issued no certificate, because the domains have one. */
export async function clearReasons(queries: Queries, domainIds: readonly string[]): Promise<void> {
  await queries.updateTable('domains').set({ ssl_reason: null }).where('id', 'in', domainIds).execute();
}

/**
 * Served uploads that expire by a threshold without a warning, soonest expiry first; one row for each domain. `due`: latest
 * time of the first warning to include.
 */
export function unwarnedUploads(
  queries: Queries,
  { thresholds, due, limit }: { thresholds: readonly WarningThreshold[]; due: string; limit: number },
) {
  return queries
    .selectFrom('certificates as certificate')
    .innerJoin('domains as domain', 'domain.id', 'certificate.domain_id')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .select([
      'certificate.domain_id',
      'certificate.upload_id',
      'certificate.not_after',
      'domain.name as domain',
      'install.id as install_id',
    ])
    .where('certificate.source', '=', 'THIRD_PARTY')
    .where('install.status', '=', 'active')
    .where('certificate.renew_at', '<=', due)
    .where((eb) => isUnwarned(eb, thresholds))
    .orderBy('certificate.not_after')
    .orderBy('certificate.seq')
    .limit(limit)
    .execute();
}
