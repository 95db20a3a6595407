import type { Transaction } from '../../database/database.ts';
import type { Platform } from '../../platform.ts';
import { requestOrders, untriedDomains } from './attempts.ts';
import { sslStatus } from './ssl-status.ts';

/**
 * After the edge took over what the database says of an install: the ssl status of its domains follows from their
 * certificates, and those that nobody has tried yet are ordered from the authority, if there is one.
 */
export async function certificatesServed(
  transaction: Transaction,
  { config, queue, clock, random }: Pick<Platform, 'config' | 'queue' | 'clock' | 'random'>,
  installId: string,
): Promise<void> {
  const { queries } = transaction;
  const authority = config.acmeDirectory !== null;
  const domains = await queries
    .selectFrom('domains as domain')
    .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
    .select([
      'domain.id',
      'domain.ssl_status',
      'domain.ssl_reason',
      'certificate.source',
      'certificate.not_after',
    ])
    .where('domain.install_id', '=', installId)
    .where('domain.is_duplicate', '=', false)
    .where('domain.network_status', '=', 'ACTIVE')
    .execute();
  for (const { id, ssl_status: present, ssl_reason, source, not_after } of domains) {
    const certificate = source === null || not_after === null ? null : { source, not_after };
    const ssl_status = sslStatus({
      authority,
      certificate,
      refused: ssl_reason !== null,
      now: clock.now(),
    });
    if (ssl_status === present) continue;
    await queries.updateTable('domains').set({ ssl_status }).where('id', '=', id).execute();
  }
  if (authority) {
    await requestOrders(transaction, { queue, clock, random }, await untriedDomains(queries, installId));
  }
}
