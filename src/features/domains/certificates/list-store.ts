import type { Queries } from '../../../database/database.ts';

/** The certificates of an install's domains, oldest first. Domains that share an uploaded certificate have one row. */
export function pageOfCertificates(
  queries: Queries,
  installId: string,
  page: { limit: number; offset: number },
) {
  return queries
    .selectFrom('certificates as certificate')
    .innerJoin('domains as domain', 'domain.id', 'certificate.domain_id')
    .select([
      'certificate.seq',
      'domain.name as domain',
      'certificate.source',
      'certificate.chain',
      'certificate.order_url',
      'certificate.created_at',
      'certificate.not_after',
    ])
    .where('domain.install_id', '=', installId)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('certificates as earlier')
            .select('earlier.seq')
            .whereRef('earlier.upload_id', '=', 'certificate.upload_id')
            .whereRef('earlier.seq', '<', 'certificate.seq'),
        ),
      ),
    )
    .orderBy('certificate.seq')
    .limit(page.limit)
    .offset(page.offset)
    .execute();
}
