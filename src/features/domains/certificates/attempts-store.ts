import { sql } from 'kysely';
import type { Queries } from '../../../database/database.ts';

/** A domain that needs a certificate. */
export interface DueDomain {
  id: string;
  name: string;
  install_id: string;
}

/** The domains of served websites. A wildcard whose reason is recorded is left out, because HTTP-01 can never validate it. */
const orderable = (queries: Queries) =>
  queries
    .selectFrom('domains as domain')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .leftJoin('certificate_attempts as attempt', 'attempt.domain_id', 'domain.id')
    .select(['domain.id', 'domain.name', 'domain.install_id'])
    .where('install.status', '=', 'active')
    .where('domain.is_duplicate', '=', false)
    .where('domain.network_status', '=', 'ACTIVE')
    .where((eb) => eb.or([eb('domain.name', 'not like', '*.%'), eb('domain.ssl_reason', 'is', null)]));

/** Domains whose next order is due, longest due first. Domains without an attempt are due before. */
export async function dueDomains(queries: Queries, now: string, limit: number): Promise<DueDomain[]> {
  // Literals, so that the databases use the index of these domains.
  const untried = await orderable(queries)
    .where('domain.awaits_order', '=', sql.lit(true))
    .where('domain.is_duplicate', '=', sql.lit(false))
    .where('domain.network_status', '=', sql.lit('ACTIVE'))
    .orderBy('domain.seq')
    .limit(limit)
    .execute();
  if (untried.length === limit) return untried;
  const due = await orderable(queries)
    .where('attempt.next_at', '<=', now)
    .orderBy('attempt.next_at')
    .limit(limit - untried.length)
    .execute();
  return [...untried, ...due];
}

/** Domains of an install without an attempt. */
export async function untriedDomains(queries: Queries, installId: string): Promise<DueDomain[]> {
  return orderable(queries)
    .where('domain.install_id', '=', installId)
    .where('attempt.domain_id', 'is', null)
    .execute();
}

/** A domain whose last attempt failed and may be retried now; undefined if an order is running or not needed. */
export async function failingDomain(
  queries: Queries,
  now: string,
  domainId: string,
): Promise<DueDomain | undefined> {
  return orderable(queries)
    .where('domain.id', '=', domainId)
    .where((eb) =>
      eb.or([
        eb('attempt.domain_id', 'is', null),
        eb.and([
          eb('attempt.failures', '>', 0),
          eb('attempt.order_id', 'is', null),
          eb.or([eb('attempt.held_until', 'is', null), eb('attempt.held_until', '<=', now)]),
        ]),
      ]),
    )
    .executeTakeFirst();
}

/** Records a running order, in place of any other, and the time when it counts as abandoned. */
export async function startAttempt(
  queries: Queries,
  domainId: string,
  claim: { order_id: string; next_at: string },
): Promise<void> {
  await queries
    .insertInto('certificate_attempts')
    .values({ domain_id: domainId, held_until: null, ...claim })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(claim))
    .execute();
}

/**
 * Ends an order. Sets the consecutive failures, the next attempt and the earliest time of any attempt. Returns false if the
 * order has been replaced, or the domain deleted.
 */
export async function endAttempt(
  queries: Queries,
  orderId: string,
  settled: { failures: number; next_at: string; held_until: string | null },
): Promise<boolean> {
  const row = await queries
    .updateTable('certificate_attempts')
    .set({ ...settled, order_id: null })
    .where('order_id', '=', orderId)
    .returning('domain_id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Makes failed orders due now, or when their authority allows the next one. Orders in progress continue. */
export async function retryFailedOrders(queries: Queries, now: string): Promise<void> {
  await queries
    .updateTable('certificate_attempts')
    .set((eb) => ({
      failures: 0,
      next_at: eb.case().when('held_until', '>', now).then(eb.ref('held_until').$notNull()).else(now).end(),
    }))
    .where('failures', '>', 0)
    .where('order_id', 'is', null)
    .execute();
}

/** Deletes failed orders and those in progress, whose results are then ignored. */
export async function forgetFailedOrders(queries: Queries): Promise<void> {
  await queries
    .deleteFrom('certificate_attempts')
    .where((eb) => eb.or([eb('failures', '>', 0), eb('order_id', 'is not', null)]))
    .execute();
}

/** Deletes the attempt of an order, unless it has been replaced. */
export async function forgetAttempt(queries: Queries, orderId: string): Promise<void> {
  await queries.deleteFrom('certificate_attempts').where('order_id', '=', orderId).execute();
}

/** Postpones the next order of a domain. The result of a running one is ignored. */
export async function postponeOrder(queries: Queries, domainId: string, next_at: string): Promise<void> {
  const postponed = { order_id: null, failures: 0, next_at, held_until: null };
  await queries
    .insertInto('certificate_attempts')
    .values({ domain_id: domainId, ...postponed })
    .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(postponed))
    .execute();
}

/** Times of validation requests for a name after a time. */
export async function validationsSince(queries: Queries, name: string, since: string): Promise<Date[]> {
  const rows = await queries
    .selectFrom('acme_validations')
    .select('at')
    .where('name', '=', name)
    .where('at', '>', since)
    .execute();
  return rows.map((row) => new Date(row.at));
}

export async function insertValidation(
  queries: Queries,
  validation: { name: string; at: string },
): Promise<void> {
  await queries.insertInto('acme_validations').values(validation).execute();
}

/** Deletes validation requests for all names up to a time. */
export async function deleteValidationsUntil(queries: Queries, until: string): Promise<void> {
  await queries.deleteFrom('acme_validations').where('at', '<=', until).execute();
}
