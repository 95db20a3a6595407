import type { IssuedCertificate } from '../../acme/authority.ts';
import { timestamp } from '../../clock.ts';
import type { Transaction } from '../../database/database.ts';
import type { CertificateSource } from '../../database/tables.ts';
import { type Completion, defineJob, type JobKind } from '../../jobs/job.ts';
import { applyInstall } from '../installs/jobs.ts';
import { dueDomains, requestOrders, settleAttempt } from './attempts.ts';
import type { Issuance } from './issuance.ts';
import { obtainCertificate, orderCertificates } from './jobs.ts';
import { type Outcome, obtain } from './obtain.ts';
import { renewalTime } from './renewal-time.ts';
import { pauseAfter } from './retry-scale.ts';
import { sslStatus } from './ssl-status.ts';

/** So many orders are asked for each minute at most; what is left is due in the next one. */
const ORDERS_A_MINUTE = 30;
/** How often the authority is asked whether it suggests another time to renew (RFC 9773 section 4.3.2). */
const ASK_AGAIN_MS = 6 * 60 * 60_000;
const SOONEST_MS = 60_000;

interface Candidate {
  id: string;
  install_id: string;
  name: string;
  failures: number;
  source: CertificateSource | null;
  chain: string | null;
  not_before: string | null;
  not_after: string | null;
  renew_at: string | null;
  renewal_id: string | null;
}

/** Getting certificates from the authority, and keeping them fresh. */
export function certificateJobKinds(issuance: Issuance) {
  const { platform, authority } = issuance;
  const { database, queue, clock, random, sealer } = platform;

  const obtaining = defineJob({
    ...obtainCertificate,
    async run({ domain_id }, { signal }) {
      const domain = await candidate(domain_id);
      if (domain === undefined) return;
      const later = await notYet(domain, signal);
      if (later !== null) return ({ queries }) => settleAttempt(queries, domain.id, later);
      return concluded(domain, await obtain(issuance, domain.name, domain.renewal_id, signal));
    },
    async giveUp({ domain_id }, { reason }, transaction) {
      const domain = await findCandidate(transaction, domain_id);
      if (domain === undefined) return;
      await refused(transaction, domain, { kind: 'refused', reason, waitMs: null, reached: null });
    },
  });

  const order = defineJob({
    ...orderCertificates,
    async run() {
      const due = await dueDomains(database.reader, clock, ORDERS_A_MINUTE);
      if (due.length === 0) return;
      return (transaction) => requestOrders(transaction, { queue, clock }, due);
    },
  });

  const kinds: JobKind[] = [obtaining, order];
  return { kinds, order };

  /** What there is to know of a domain that is served; undefined for one that needs no certificate. */
  function findCandidate(
    { queries }: Pick<Transaction, 'queries'>,
    domainId: string,
  ): Promise<Candidate | undefined> {
    return queries
      .selectFrom('domains as domain')
      .innerJoin('installs as install', 'install.id', 'domain.install_id')
      .innerJoin('certificate_attempts as attempt', 'attempt.domain_id', 'domain.id')
      .leftJoin('certificates as certificate', 'certificate.domain_id', 'domain.id')
      .select([
        'domain.id',
        'domain.install_id',
        'domain.name',
        'attempt.failures',
        'certificate.source',
        'certificate.chain',
        'certificate.not_before',
        'certificate.not_after',
        'certificate.renew_at',
        'certificate.renewal_id',
      ])
      .where('domain.id', '=', domainId)
      .where('domain.is_duplicate', '=', false)
      .where('install.status', '=', 'active')
      .executeTakeFirst();
  }

  function candidate(domainId: string): Promise<Candidate | undefined> {
    return findCandidate({ queries: database.reader }, domainId);
  }

  /** Null if it is time to order; otherwise when to look again. */
  async function notYet(
    domain: Candidate,
    signal: AbortSignal,
  ): Promise<{ failures: number; next_at: string } | null> {
    if (domain.source !== 'LETS_ENCRYPT' || domain.chain === null || domain.not_after === null) return null;
    const now = clock.now().getTime();
    let renewAt = domain.renew_at === null ? now : Date.parse(domain.renew_at);
    let askAgainMs = ASK_AGAIN_MS;
    if (renewAt > now && domain.not_before !== null) {
      const window = await suggestedWindow(domain.chain, signal);
      if (window === null) return { failures: 0, next_at: new Date(renewAt).toISOString() };
      askAgainMs = Math.max(SOONEST_MS, (window.retryAfterSeconds ?? 0) * 1000 || ASK_AGAIN_MS);
      if (renewAt < window.start.getTime() || renewAt > window.end.getTime()) {
        const validity = { notBefore: new Date(domain.not_before), notAfter: new Date(domain.not_after) };
        renewAt = renewalTime(validity, window, random).getTime();
        await remember(domain.id, renewAt);
      }
    }
    if (renewAt <= now) return null;
    return { failures: 0, next_at: new Date(Math.min(renewAt, now + askAgainMs)).toISOString() };
  }

  /** No answer is no reason to renew at another time. */
  async function suggestedWindow(chain: string, signal: AbortSignal) {
    try {
      return await authority.renewalWindow(chain, signal);
    } catch (err) {
      if (signal.aborted) throw err;
      platform.log.info({ err }, 'the certificate authority gave no renewal information');
      return null;
    }
  }

  async function remember(domainId: string, renewAt: number): Promise<void> {
    await database.write(({ queries }) =>
      queries
        .updateTable('certificates')
        .set({ renew_at: new Date(renewAt).toISOString() })
        .where('domain_id', '=', domainId)
        .execute(),
    );
  }

  function concluded(domain: Candidate, outcome: Outcome): Completion {
    return (transaction) =>
      outcome.kind === 'issued'
        ? issued(transaction, domain, outcome.certificate)
        : refused(transaction, domain, outcome);
  }

  async function issued(
    transaction: Transaction,
    domain: Candidate,
    issuedNow: IssuedCertificate,
  ): Promise<void> {
    const { queries } = transaction;
    // It may have been deleted while the authority worked.
    const still = await queries
      .updateTable('domains')
      .set({ reached: true, checked_at: timestamp(clock), ssl_reason: null })
      .where('id', '=', domain.id)
      .returning('id')
      .executeTakeFirst();
    if (!still) return;
    const renewAt = renewalTime(issuedNow, null, random);
    const certificate = {
      source: 'LETS_ENCRYPT' as const,
      chain: issuedNow.chain,
      sealed_key: sealer.seal(issuedNow.key),
      not_before: issuedNow.notBefore.toISOString(),
      not_after: issuedNow.notAfter.toISOString(),
      order_url: issuedNow.orderUrl,
      renewal_id: issuedNow.renewalId,
      renew_at: renewAt.toISOString(),
      warned_days: null,
      created_at: timestamp(clock),
    };
    await queries
      .insertInto('certificates')
      .values({ domain_id: domain.id, ...certificate })
      .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(certificate))
      .execute();
    const askAt = Math.min(renewAt.getTime(), clock.now().getTime() + ASK_AGAIN_MS);
    await settleAttempt(queries, domain.id, { failures: 0, next_at: new Date(askAt).toISOString() });
    await queue.enqueue(transaction, applyInstall, {
      payload: { id: domain.install_id },
      lane: domain.install_id,
    });
  }

  async function refused(
    { queries }: Transaction,
    domain: Candidate,
    { reason, waitMs, reached }: Extract<Outcome, { kind: 'refused' }>,
  ): Promise<void> {
    const failures = domain.failures + 1;
    const pause = Math.max(pauseAfter(failures, random), waitMs ?? 0);
    await settleAttempt(queries, domain.id, { failures, next_at: timestamp(clock, pause) });
    const ssl_status = sslStatus({
      authority: true,
      certificate: domain.source && { source: domain.source, not_after: domain.not_after ?? '' },
      refused: true,
      now: clock.now(),
    });
    await queries
      .updateTable('domains')
      .set({
        ssl_status,
        ssl_reason: reason,
        ...(reached === null ? {} : { reached, checked_at: timestamp(clock) }),
      })
      .where('id', '=', domain.id)
      .execute();
  }
}
