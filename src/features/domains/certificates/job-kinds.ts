import type { Transaction } from '../../../database/database.ts';
import { type Completion, defineJob, type JobKind } from '../../../jobs/job.ts';
import { failOperation } from '../../../jobs/operations-store.ts';
import { timestamp } from '../../../lib/clock.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import type { OperationErrorCode } from '../../../lib/operation.ts';
import type { IssuedCertificate } from '../../../network/acme/authority.ts';
import { applyInstall } from '../../websites/installs/jobs.ts';
import { requestOrders } from './attempts.ts';
import { dueDomains, endAttempt } from './attempts-store.ts';
import type { Issuance } from './issuance.ts';
import { obtainCertificate, orderCertificates } from './jobs.ts';
import { type Outcome, obtain } from './obtain.ts';
import { pauseAfter, renewalTime } from './schedule.ts';
import { sslStatus } from './ssl-status.ts';
import {
  findOrderableDomain,
  type OrderableDomain,
  recordRefused,
  recordValidated,
  replaceCertificate,
  setRenewalTime,
} from './store.ts';

/** Limit of orders queued per minute. The rest stays due. */
const ORDERS_A_MINUTE = 60;
/** Interval of requests for the authority's renewal window (RFC 9773 section 4.3.2). */
const ASK_AGAIN_MS = 12 * HOUR_MS;
/** Shortest wait before a status report may retry an order early. */
const HOLD_MS = 60_000;
const SOONEST_MS = 60_000;

/** A domain with its running order. */
type OrderedDomain = OrderableDomain & { order_id: string };

/** The jobs that order certificates and renew them. */
export function certificateJobKinds(issuance: Issuance) {
  const { platform, authority, directoryUrl } = issuance;
  const { database, queue, clock, random, sealer } = platform;

  const obtaining = defineJob({
    ...obtainCertificate,
    async run({ domain_id, order_id }, { id, signal }) {
      const domain = await findOrderableDomain(database.reader, domain_id);
      // Another order has replaced this one.
      if (domain === undefined || domain.order_id !== order_id) return;
      const later = await postponedUntil(domain, signal);
      if (later !== null) {
        const settled = { failures: 0, next_at: later, held_until: null };
        return ({ queries }) => endAttempt(queries, order_id, settled);
      }
      // Only a certificate of the same authority can be named as replaced.
      const replaces = domain.directory_url === directoryUrl ? domain.renewal_id : null;
      const outcome = await obtain(issuance, domain.name, replaces, signal);
      const complete = completionOf({ ...domain, order_id }, outcome);
      return async (transaction) => {
        await complete(transaction);
        if (outcome.kind !== 'issued') await failOperation(transaction.queries, id, failureOf(outcome));
      };
    },
    async giveUp({ domain_id, order_id }, _failure, transaction) {
      const domain = await findOrderableDomain(transaction.queries, domain_id);
      if (domain === undefined || domain.order_id !== order_id) return;
      const reason = `No certificate for ${domain.name} was issued because of an internal error; Homeport will try again later.`;
      await refused(
        transaction,
        { ...domain, order_id },
        { kind: 'refused', reason, waitMs: null, reached: null },
      );
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

  function completionOf(domain: OrderedDomain, outcome: Outcome): Completion {
    return (transaction) => {
      switch (outcome.kind) {
        case 'issued':
          return issued(transaction, domain, outcome.certificate);
        case 'refused':
          return refused(transaction, domain, outcome);
        case 'paused': {
          const next_at = timestamp(clock, outcome.waitMs);
          const settled = { failures: domain.failures, next_at, held_until: next_at };
          return endAttempt(transaction.queries, domain.order_id, settled);
        }
      }
    };
  }

  async function issued(
    transaction: Transaction,
    domain: OrderedDomain,
    issuedNow: IssuedCertificate,
  ): Promise<void> {
    const { queries } = transaction;
    // The domain may have been deleted meanwhile.
    if (!(await recordValidated(queries, domain.id, timestamp(clock)))) return;
    const renewAt = renewalTime(issuedNow, null, random);
    await replaceCertificate(queries, domain.id, {
      source: 'LETS_ENCRYPT',
      chain: issuedNow.chain,
      sealed_key: sealer.seal(issuedNow.key),
      not_before: issuedNow.notBefore.toISOString(),
      not_after: issuedNow.notAfter.toISOString(),
      directory_url: directoryUrl,
      order_url: issuedNow.orderUrl,
      renewal_id: issuedNow.renewalId,
      renew_at: renewAt.toISOString(),
      warned_days: null,
      created_at: timestamp(clock),
    });
    const askAt = Math.min(renewAt.getTime(), clock.now().getTime() + ASK_AGAIN_MS);
    await endAttempt(queries, domain.order_id, {
      failures: 0,
      next_at: new Date(askAt).toISOString(),
      held_until: null,
    });
    await queue.enqueue(transaction, applyInstall, {
      payload: { id: domain.install_id },
      lane: domain.install_id,
    });
  }

  async function refused(
    { queries }: Transaction,
    domain: OrderedDomain,
    { reason, waitMs, reached }: Extract<Outcome, { kind: 'refused' }>,
  ): Promise<void> {
    const failures = domain.failures + 1;
    const pause = Math.max(pauseAfter(failures, random), waitMs ?? 0);
    await endAttempt(queries, domain.order_id, {
      failures,
      next_at: timestamp(clock, pause),
      held_until: timestamp(clock, waitMs ?? HOLD_MS),
    });
    const ssl_status = sslStatus({
      authority: true,
      certificate: domain.source && { source: domain.source, not_after: domain.not_after ?? '' },
      refused: true,
      now: clock.now(),
    });
    await recordRefused(queries, domain.id, {
      ssl_status,
      ssl_reason: reason,
      ...(reached === null ? {} : { reached, checked_at: timestamp(clock) }),
    });
  }
}

/** What users see of an order without certificate. The order is tried again, so the job itself has succeeded. */
function failureOf(outcome: Exclude<Outcome, { kind: 'issued' }>): {
  code: OperationErrorCode;
  message: string;
} {
  return outcome.kind === 'refused'
    ? { code: 'certificate_refused', message: outcome.reason }
    : {
        code: 'certificate_paused',
        message: 'The order has to wait for the certificate authority or a host.',
      };
}
