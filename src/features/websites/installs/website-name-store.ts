import type { Queries } from '../../../database/database.ts';

/** The primary domain of an install and the name that it has of itself, which may be one, with what tells how they are reached. */
export function nameCandidates(queries: Queries, installId: string) {
  return queries
    .selectFrom('domains as domain')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .select(['domain.name', 'domain.is_cname', 'domain.is_primary', 'domain.is_duplicate'])
    .select(['domain.reached', 'certificate.source'])
    .where('domain.install_id', '=', installId)
    .where((eb) => eb.or([eb('domain.is_primary', '=', true), eb('domain.is_cname', '=', true)]))
    .execute();
}
