import { defineJob, type JobKind, switchedOff } from '../../../jobs/job.ts';
import { timestamp } from '../../../lib/clock.ts';
import { requestOrders } from './attempts.ts';
import { dueDomains, endAttempt, forgetAttempt } from './attempts-store.ts';
import type { Issuance } from './issuance.ts';
import { obtainCertificate, orderCertificates } from './jobs.ts';
import { obtain } from './obtain.ts';
import { ASK_AGAIN_MS, createOrderSettlement, hasValidUpload } from './order-settlement.ts';
import { renewalTime } from './schedule.ts';
import { findOrderableDomain, type OrderableDomain, setRenewalTime } from './store.ts';

/** Limit of orders queued per minute. The rest stays due. */
const ORDERS_A_MINUTE = 60;
const SOONEST_MS = 60_000;

/** The same jobs without an authority: orders that were queued before it was removed end. */
export const withoutAuthority = (): JobKind[] => [
  switchedOff(obtainCertificate, ({ order_id }, { queries }) => forgetAttempt(queries, order_id)),
  switchedOff(orderCertificates),
];

/** The jobs that order certificates and renew them. */
export function certificateJobKinds(issuance: Issuance) {
  const { platform, authority, directoryUrl } = issuance;
  const { database, queue, clock, random } = platform;
  const { settle, abandoned } = createOrderSettlement(platform);

  const obtaining = defineJob({
    ...obtainCertificate,
    async run({ domain_id, order_id }, { signal }) {
      const domain = await findOrderableDomain(database.reader, domain_id);
      // Another order has replaced this one.
      if (domain === undefined || domain.order_id !== order_id) return;
      const later = await postponedUntil(domain, signal);
      if (later !== null) {
        const settled = { failures: 0, next_at: later, held_until: null };
        return async ({ queries }) => {
          await endAttempt(queries, order_id, settled);
        };
      }
      // Only a certificate of the same authority can be named as replaced.
      const replaces = domain.directory_url === directoryUrl ? domain.renewal_id : null;
      const outcome = await obtain(issuance, domain.name, replaces, signal);
      return (transaction) => settle(transaction, { ...domain, order_id }, outcome);
    },
    async giveUp({ domain_id, order_id }, _failure, transaction) {
      const domain = await findOrderableDomain(transaction.queries, domain_id);
      if (domain === undefined || domain.order_id !== order_id) return;
      await abandoned(transaction, { ...domain, order_id });
    },
  });

  const order = defineJob({
    ...orderCertificates,
    async run() {
      return async (transaction) => {
        const due = await dueDomains(transaction.queries, timestamp(clock), ORDERS_A_MINUTE);
        await requestOrders(transaction, { queue, clock, random }, due);
      };
    },
  });

  const kinds: JobKind[] = [obtaining, order];
  return { kinds, order };

  /** Null if a certificate must be ordered now; otherwise the time of the next check. */
  async function postponedUntil(domain: OrderableDomain, signal: AbortSignal): Promise<string | null> {
    const { source, chain, not_before, not_after, renew_at } = domain;
    if (hasValidUpload(domain, clock.now())) return not_after;
    if (source !== 'LETS_ENCRYPT' || chain === null || not_before === null || not_after === null) return null;
    // The operator has changed the authority, for example from staging to production.
    if (domain.directory_url !== directoryUrl) return null;
    const now = clock.now().getTime();
    let renewAt = renew_at === null ? now : Date.parse(renew_at);
    let askAgainMs = ASK_AGAIN_MS;
    if (renewAt > now) {
      const window = await suggestedWindow(chain, signal);
      if (window !== null) {
        askAgainMs = Math.max(SOONEST_MS, (window.retryAfterSeconds ?? 0) * 1000 || ASK_AGAIN_MS);
        if (renewAt < window.start.getTime() || renewAt > window.end.getTime()) {
          const validity = { notBefore: new Date(not_before), notAfter: new Date(not_after) };
          renewAt = renewalTime(validity, window, random).getTime();
          await saveRenewalTime(domain.id, renewAt);
        }
      }
    }
    if (renewAt <= now) return null;
    return new Date(Math.min(renewAt, now + Math.min(askAgainMs, ASK_AGAIN_MS))).toISOString();
  }

  /** Null if the authority suggests no window or does not answer. The renewal time then stays, and is checked again. */
  async function suggestedWindow(chain: string, signal: AbortSignal) {
    try {
      return await authority.renewalWindow(chain, signal);
    } catch (err) {
      signal.throwIfAborted();
      platform.log.info({ err }, 'could not get renewal information from the certificate authority');
      return null;
    }
  }

  async function saveRenewalTime(domainId: string, renewAt: number): Promise<void> {
    await database.write(({ queries }) => setRenewalTime(queries, domainId, new Date(renewAt).toISOString()));
  }
}
