import { type Clock, timestamp } from '../../clock.ts';
import type { Queries, Transaction } from '../../database/database.ts';
import type { Queue } from '../../jobs/queue.ts';
import { laneOf, obtainCertificate } from './jobs.ts';

/** While an order is asked for it is nobody else's to ask for; one that is lost is asked for again after this. */
const CLAIM_MS = 15 * 60_000;
const HOUR_MS = 60 * 60_000;

export interface Wanting {
  id: string;
  name: string;
}

/** Asks for an order of each domain's certificate, and keeps others from doing the same. */
export async function requestOrders(
  transaction: Transaction,
  { queue, clock }: { queue: Queue; clock: Clock },
  domains: Wanting[],
): Promise<void> {
  for (const { id, name } of domains) {
    const next_at = timestamp(clock, CLAIM_MS);
    await transaction.queries
      .insertInto('certificate_attempts')
      .values({ domain_id: id, next_at })
      .onConflict((conflict) => conflict.column('domain_id').doUpdateSet({ next_at }))
      .execute();
    await queue.enqueue(transaction, obtainCertificate, {
      payload: { domain_id: id },
      lane: laneOf(name),
    });
  }
}

/** The domains of served websites. */
const served = (queries: Queries) =>
  queries
    .selectFrom('domains as domain')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .leftJoin('certificate_attempts as attempt', 'attempt.domain_id', 'domain.id')
    .select(['domain.id', 'domain.name'])
    .where('install.status', '=', 'active')
    .where('domain.is_duplicate', '=', false)
    .where('domain.network_status', '=', 'ACTIVE');

/** Those whose turn it is, longest due first. Domains that nobody has tried yet are as due as any. */
export async function dueDomains(queries: Queries, clock: Clock, limit: number): Promise<Wanting[]> {
  return served(queries)
    .where((eb) => eb.or([eb('attempt.next_at', 'is', null), eb('attempt.next_at', '<=', timestamp(clock))]))
    .orderBy('attempt.next_at')
    .limit(limit)
    .execute();
}

/** Those of an install that nobody has tried yet. */
export async function untriedDomains(queries: Queries, installId: string): Promise<Wanting[]> {
  return served(queries)
    .where('domain.install_id', '=', installId)
    .where('attempt.domain_id', 'is', null)
    .execute();
}

/** A domain whose last try failed, or that has not been tried; undefined where an order is under way or not needed. */
export async function failingDomain(queries: Queries, domainId: string): Promise<Wanting | undefined> {
  return served(queries)
    .where('domain.id', '=', domainId)
    .where((eb) => eb.or([eb('attempt.domain_id', 'is', null), eb('attempt.failures', '>', 0)]))
    .executeTakeFirst();
}

/** Writes down how a try ended: the failures in a row, and when the next one is due. */
export async function settleAttempt(
  queries: Queries,
  domainId: string,
  { failures, next_at }: { failures: number; next_at: string },
): Promise<void> {
  await queries
    .updateTable('certificate_attempts')
    .set({ failures, next_at })
    .where('domain_id', '=', domainId)
    .execute();
}

/** When the authority was asked to validate this name within the last hour. */
export async function recentValidations(queries: Queries, clock: Clock, name: string): Promise<Date[]> {
  const rows = await queries
    .selectFrom('acme_validations')
    .select('at')
    .where('name', '=', name)
    .where('at', '>', timestamp(clock, -HOUR_MS))
    .execute();
  return rows.map((row) => new Date(row.at));
}

export async function recordValidation({ queries }: Transaction, clock: Clock, name: string): Promise<void> {
  await queries.deleteFrom('acme_validations').where('at', '<=', timestamp(clock, -HOUR_MS)).execute();
  await queries
    .insertInto('acme_validations')
    .values({ name, at: timestamp(clock) })
    .execute();
}
