import { type Clock, timestamp } from '../../clock.ts';
import type { Queries, Transaction } from '../../database/database.ts';
import { lockValidations } from '../../database/lock.ts';
import { DAY_MS, HOUR_MS } from '../../durations.ts';
import type { Platform } from '../../platform.ts';
import { laneOf, obtainCertificate } from './jobs.ts';
import { pauseForValidations } from './retry-scale.ts';

/** An order that is under way is nobody else's to make; jobs are durable, so this long is for what nobody foresaw. */
const CLAIM_MS = DAY_MS;

export interface Wanting {
  id: string;
  name: string;
}

type Parts = Pick<Platform, 'queue' | 'clock' | 'random'>;

/** Asks for an order of each domain's certificate. It takes the place of one that is under way. */
export async function requestOrders(
  transaction: Transaction,
  { queue, clock, random }: Parts,
  domains: Wanting[],
): Promise<void> {
  for (const { id, name } of domains) {
    const claim = { order_id: random.uuid(), next_at: timestamp(clock, CLAIM_MS) };
    await transaction.queries
      .insertInto('certificate_attempts')
      .values({ domain_id: id, held_until: null, ...claim })
      .onConflict((conflict) => conflict.column('domain_id').doUpdateSet(claim))
      .execute();
    await queue.enqueue(transaction, obtainCertificate, {
      payload: { domain_id: id, order_id: claim.order_id },
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
    .orderBy('attempt.next_at', (order) => order.asc().nullsFirst())
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

/** A domain whose last try failed and that may be tried at once; undefined where an order is under way or not needed. */
export async function failingDomain(
  queries: Queries,
  clock: Clock,
  domainId: string,
): Promise<Wanting | undefined> {
  return served(queries)
    .where('domain.id', '=', domainId)
    .where((eb) =>
      eb.or([
        eb('attempt.domain_id', 'is', null),
        eb.and([
          eb('attempt.failures', '>', 0),
          eb('attempt.order_id', 'is', null),
          eb.or([eb('attempt.held_until', 'is', null), eb('attempt.held_until', '<=', timestamp(clock))]),
        ]),
      ]),
    )
    .executeTakeFirst();
}

/** Ends an order: the failures in a row, when the next try is due, and before when there must be none. */
export async function settleAttempt(
  queries: Queries,
  orderId: string,
  settled: { failures: number; next_at: string; held_until: string | null },
): Promise<void> {
  await queries
    .updateTable('certificate_attempts')
    .set({ ...settled, order_id: null })
    .where('order_id', '=', orderId)
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

/** The authority was asked to look at the name as often as it may be within an hour. */
export class ValidationsSpent extends Error {
  override readonly name = 'ValidationsSpent';
}

/**
 * Writes down that the authority is about to be asked. Throws ValidationsSpent where it was asked often enough: counted
 * here once more, as another process may have asked since.
 */
export async function recordValidation(transaction: Transaction, clock: Clock, name: string): Promise<void> {
  await lockValidations(transaction);
  const { queries } = transaction;
  await queries.deleteFrom('acme_validations').where('at', '<=', timestamp(clock, -HOUR_MS)).execute();
  if (pauseForValidations(await recentValidations(queries, clock, name), clock.now()) > 0) {
    throw new ValidationsSpent(`the authority was asked to look at ${name} often enough for an hour`);
  }
  await queries
    .insertInto('acme_validations')
    .values({ name, at: timestamp(clock) })
    .execute();
}
