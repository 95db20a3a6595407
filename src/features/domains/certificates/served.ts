import type { Transaction } from '../../../database/database.ts';
import type { Platform } from '../../../platform/platform.ts';
import { requestOrders } from './attempts.ts';
import { untriedDomains } from './attempts-store.ts';
import { sslStatus } from './ssl-status.ts';
import { servedDomains, setSslStatus } from './store.ts';

/**
 * Called after the edge has applied an install. Updates the ssl status of its domains, and orders certificates for domains
 * without an attempt if an authority is configured.
 */
export async function certificatesServed(
  transaction: Transaction,
  { config, queue, clock, random }: Pick<Platform, 'config' | 'queue' | 'clock' | 'random'>,
  installId: string,
): Promise<void> {
  const { queries } = transaction;
  await settleSslStatuses(transaction, { config, clock }, installId);
  if (config.acmeDirectory !== null) {
    await requestOrders(transaction, { queue, clock, random }, await untriedDomains(queries, installId));
  }
}

/** Domains of all installs that one query reads. */
const PAGE = 1_000;

/** Updates the ssl status of the served domains of an install, or of all. */
export async function settleSslStatuses(
  transaction: Transaction,
  platform: Pick<Platform, 'config' | 'clock'>,
  installId?: string,
): Promise<void> {
  const { queries } = transaction;
  if (installId !== undefined)
    return settle(transaction, platform, await servedDomains(queries, { installId }));
  for (let after: number | undefined = 0; after !== undefined; ) {
    const page: ServedDomain[] = await servedDomains(queries, { after, limit: PAGE });
    await settle(transaction, platform, page);
    after = page.at(-1)?.seq;
  }
}

type ServedDomain = Awaited<ReturnType<typeof servedDomains>>[number];

async function settle(
  { queries }: Transaction,
  { config, clock }: Pick<Platform, 'config' | 'clock'>,
  domains: readonly ServedDomain[],
): Promise<void> {
  const authority = config.acmeDirectory !== null;
  for (const { id, ssl_status: present, ssl_reason, source, not_after } of domains) {
    const certificate = source === null || not_after === null ? null : { source, not_after };
    const ssl_status = sslStatus({
      authority,
      certificate,
      refused: ssl_reason !== null,
      now: clock.now(),
    });
    if (ssl_status === present) continue;
    await setSslStatus(queries, id, ssl_status);
  }
}
