import type { Transaction } from '../../../database/database.ts';
import { defineJob, type JobKind, PermanentFailure } from '../../../jobs/job.ts';
import { failOperation } from '../../../jobs/operations-store.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { OperationErrorCode } from '../../../lib/operation.ts';
import type { Platform } from '../../../platform/platform.ts';
import { endAttempt, forgetAttempt } from './attempts-store.ts';
import type { Issuance } from './issuance.ts';
import { orderCertificate } from './jobs.ts';
import { type Outcome, obtain } from './obtain.ts';
import { createOrderSettlement, type OrderedDomain } from './order-settlement.ts';
import { wildcardRefusal } from './precheck.ts';
import { certificateServes } from './ssl-status.ts';
import { findOrderableDomain } from './store.ts';

/**
 * The job for orders of users. Unlike an automatic order, it replaces a valid certificate, an uploaded one too, and fails with
 * the reason if none is issued. `issuance`: null without an authority.
 */
export function userOrderJobKind(platform: Platform, issuance: Issuance | null): JobKind {
  const { database, clock } = platform;
  const { settle, abandoned } = createOrderSettlement(platform);

  return defineJob({
    ...orderCertificate,
    async run({ domain_id, order_id }, { id, signal }) {
      const domain = await findOrderableDomain(database.reader, domain_id);
      if (domain === undefined) {
        throw new PermanentFailure(
          'This install does not serve the domain, so no certificate was ordered. Wait until the install is active, and verify the domain if another install has it.',
        );
      }
      if (domain.order_id !== order_id) {
        throw new PermanentFailure('A later order or an uploaded certificate has replaced this order.');
      }
      if (issuance === null) {
        throw new PermanentFailure(
          'This platform has no certificate authority. Upload a certificate, or ask your provider to configure an authority.',
        );
      }
      const wildcard = wildcardRefusal(domain.name);
      if (wildcard !== null) {
        return async ({ queries }) => {
          await forgetAttempt(queries, order_id);
          await failOperation(queries, id, { code: 'failed', message: wildcard });
        };
      }
      const replaces = domain.directory_url === issuance.directoryUrl ? domain.renewal_id : null;
      const outcome = await obtain(issuance, domain.name, replaces, signal);
      const ordered = { ...domain, order_id };
      return async (transaction) => {
        if (outcome.kind === 'issued' || !isServed(ordered)) await settle(transaction, ordered, outcome);
        else await endUnchanged(transaction, ordered);
        if (outcome.kind !== 'issued') {
          await failOperation(transaction.queries, id, failureOf(domain.name, outcome));
        }
      };
    },
    /** Finds nothing to do after a recorded refusal. */
    async giveUp({ domain_id, order_id }, _failure, transaction) {
      const domain = await findOrderableDomain(transaction.queries, domain_id);
      // Automatic orders start again when the domain can have a certificate.
      if (domain === undefined || issuance === null) return forgetAttempt(transaction.queries, order_id);
      if (domain.order_id !== order_id) return;
      const ordered = { ...domain, order_id };
      await (isServed(ordered) ? endUnchanged(transaction, ordered) : abandoned(transaction, ordered));
    },
  });

  function isServed({ source, not_after }: OrderedDomain): boolean {
    const certificate = source === null || not_after === null ? null : { source, not_after };
    return certificateServes({ authority: true, certificate, now: clock.now() });
  }

  /** The domain keeps a valid certificate, so the failed order is no fault of the domain. */
  async function endUnchanged(
    { queries }: Transaction,
    { order_id, failures }: OrderedDomain,
  ): Promise<void> {
    await endAttempt(queries, order_id, { failures, next_at: timestamp(clock), held_until: null });
  }

  /** The order is tried again, so the job itself has succeeded. */
  function failureOf(
    name: string,
    outcome: Exclude<Outcome, { kind: 'issued' }>,
  ): { code: OperationErrorCode; message: string } {
    if (outcome.kind === 'refused') return { code: 'certificate_refused', message: outcome.reason };
    const next = timestamp(clock, outcome.waitMs).slice(0, 16).replace('T', ' ');
    return {
      code: 'certificate_paused',
      message: `Too many certificates for ${name} were ordered in the last hour, or its host cannot be reached. The next order is possible at ${next} UTC.`,
    };
  }
}
