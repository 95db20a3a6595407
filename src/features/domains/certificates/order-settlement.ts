import type { Transaction } from '../../../database/database.ts';
import { timestamp } from '../../../lib/clock.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import type { IssuedCertificate } from '../../../network/acme/authority.ts';
import type { Platform } from '../../../platform/platform.ts';
import { applyInstall } from '../../websites/installs/jobs.ts';
import { endAttempt } from './attempts-store.ts';
import type { Outcome } from './obtain.ts';
import { pauseAfter, renewalTime } from './schedule.ts';
import { sslStatus } from './ssl-status.ts';
import { type OrderableDomain, recordRefused, recordValidated, replaceCertificate } from './store.ts';

/** Interval of requests for the authority's renewal window (RFC 9773 section 4.3.2). */
export const ASK_AGAIN_MS = 12 * HOUR_MS;
/** Shortest wait before a status report may retry an order early. */
const HOLD_MS = 60_000;

/** A domain with its running order. */
export type OrderedDomain = OrderableDomain & { order_id: string };

/**
 * Records the outcome of an order. An order that has been replaced meanwhile, by a later one or by an uploaded certificate,
 * changes nothing.
 */
export function createOrderSettlement({
  config,
  queue,
  clock,
  random,
  sealer,
}: Pick<Platform, 'config' | 'queue' | 'clock' | 'random' | 'sealer'>) {
  async function issued(
    transaction: Transaction,
    domain: OrderedDomain,
    issuedNow: IssuedCertificate,
  ): Promise<void> {
    const { queries } = transaction;
    const renewAt = renewalTime(issuedNow, null, random);
    const askAt = Math.min(renewAt.getTime(), clock.now().getTime() + ASK_AGAIN_MS);
    const next_at = new Date(askAt).toISOString();
    if (!(await endAttempt(queries, domain.order_id, { failures: 0, next_at, held_until: null }))) return;
    // The domain may have been deleted meanwhile.
    if (!(await recordValidated(queries, domain.id, timestamp(clock)))) return;
    await replaceCertificate(queries, domain.id, {
      source: 'LETS_ENCRYPT',
      chain: issuedNow.chain,
      sealed_key: sealer.seal(issuedNow.key),
      not_before: issuedNow.notBefore.toISOString(),
      not_after: issuedNow.notAfter.toISOString(),
      directory_url: config.acmeDirectory,
      order_url: issuedNow.orderUrl,
      renewal_id: issuedNow.renewalId,
      renew_at: renewAt.toISOString(),
      upload_id: null,
      warned_days: null,
      created_at: timestamp(clock),
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
    const isCurrent = await endAttempt(queries, domain.order_id, {
      failures,
      next_at: timestamp(clock, pause),
      held_until: timestamp(clock, waitMs ?? HOLD_MS),
    });
    if (!isCurrent) return;
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

  return {
    refused,
    async settle(transaction: Transaction, domain: OrderedDomain, outcome: Outcome): Promise<void> {
      switch (outcome.kind) {
        case 'issued':
          return issued(transaction, domain, outcome.certificate);
        case 'refused':
          return refused(transaction, domain, outcome);
        case 'paused': {
          const next_at = timestamp(clock, outcome.waitMs);
          const settled = { failures: domain.failures, next_at, held_until: next_at };
          await endAttempt(transaction.queries, domain.order_id, settled);
        }
      }
    },
    /** After all attempts of a job failed unexpectedly. */
    async abandoned(transaction: Transaction, domain: OrderedDomain): Promise<void> {
      const reason = `No certificate for ${domain.name} was issued because of an internal error; Homeport will try again later.`;
      await refused(transaction, domain, { kind: 'refused', reason, waitMs: null, reached: null });
    },
  };
}

/** Whether automatic orders must wait, because an uploaded certificate is valid. */
export function hasValidUpload(
  { source, not_after }: Pick<OrderableDomain, 'source' | 'not_after'>,
  now: Date,
): boolean {
  return source === 'THIRD_PARTY' && not_after !== null && Date.parse(not_after) > now.getTime();
}
