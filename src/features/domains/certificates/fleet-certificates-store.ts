import type { Queries } from '../../../database/database.ts';
import { installRanges } from '../../../database/install-ranges.ts';

/** The certificates of all domains. */
export interface FleetCertificates {
  certificates: { source: string; count: number }[];
  /** Earliest expiry of an authority certificate, and of an uploaded one; null without one. */
  nextExpiry: Record<'LETS_ENCRYPT' | 'THIRD_PARTY', Date | null>;
}

/** In ranges of all installs, so that no query takes long. */
export async function fleetCertificates(queries: Queries): Promise<FleetCertificates> {
  const counts = new Map<string, number>();
  const first = new Map<string, string>();
  for await (const { after, to } of installRanges(queries)) {
    const rows = await queries
      .selectFrom('installs as install')
      .innerJoin('domains as domain', 'domain.install_id', 'install.id')
      .innerJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
      .select((eb) => [
        'certificate.source',
        'domain.is_duplicate',
        eb.fn.countAll<number>().as('count'),
        eb.fn.min('certificate.not_after').as('first'),
      ])
      .where('install.seq', '>', after)
      .where('install.seq', '<=', to)
      .groupBy(['certificate.source', 'domain.is_duplicate'])
      .execute();
    for (const { source, is_duplicate, count, first: end } of rows) {
      counts.set(source, (counts.get(source) ?? 0) + count);
      // The authority's certificate of a duplicate is not renewed.
      if (source === 'LETS_ENCRYPT' && is_duplicate) continue;
      const known = first.get(source);
      if (known === undefined || end < known) first.set(source, end);
    }
  }
  const expiryOf = (source: string) => {
    const end = first.get(source);
    return end === undefined ? null : new Date(end);
  };
  return {
    certificates: [...counts].map(([source, count]) => ({ source, count })),
    nextExpiry: { LETS_ENCRYPT: expiryOf('LETS_ENCRYPT'), THIRD_PARTY: expiryOf('THIRD_PARTY') },
  };
}
