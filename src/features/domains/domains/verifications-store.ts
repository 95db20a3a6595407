import { sql } from 'kysely';
import type { Queries } from '../../../database/database.ts';

/** The verification of a registrable domain by an account. */
export interface Verification {
  account_id: string;
  registrable: string;
  token: string;
  verified_at: string | null;
  created_at: string;
}

const select = (queries: Queries) =>
  queries
    .selectFrom('domain_proofs')
    .select(['account_id', 'registrable', 'token', 'verified_at', 'created_at']);

/** The verifications of an account, by registrable domain. */
export async function verificationsOf(
  queries: Queries,
  accountId: string,
  registrables: readonly string[],
): Promise<Map<string, Verification>> {
  if (registrables.length === 0) return new Map();
  const verifications = await select(queries)
    .where('account_id', '=', accountId)
    .where('registrable', 'in', [...new Set(registrables)])
    .execute();
  return new Map(verifications.map((verification) => [verification.registrable, verification]));
}

export function findVerification(
  queries: Queries,
  accountId: string,
  registrable: string,
): Promise<Verification | undefined> {
  return select(queries)
    .where('account_id', '=', accountId)
    .where('registrable', '=', registrable)
    .executeTakeFirst();
}

/** Adds a verification. An existing one stays unchanged. */
export async function insertVerification(
  queries: Queries,
  verification: Omit<Verification, 'verified_at'> & { next_look_at: string },
): Promise<void> {
  await queries
    .insertInto('domain_proofs')
    .values({ ...verification, verified_at: null })
    .onConflict((conflict) => conflict.columns(['account_id', 'registrable']).doNothing())
    .execute();
}

/** All completed verifications of a registrable domain. */
export function completedVerifications(queries: Queries, registrable: string): Promise<Verification[]> {
  return select(queries)
    .where('registrable', '=', registrable)
    .where('verified_at', 'is not', null)
    .execute();
}

/** Completes a verification, or makes it necessary again. */
export async function setVerified(
  queries: Queries,
  { account_id, registrable }: Pick<Verification, 'account_id' | 'registrable'>,
  set: { verified_at: string; next_look_at: null } | { verified_at: null; next_look_at: string },
): Promise<void> {
  await queries
    .updateTable('domain_proofs')
    .set(set)
    .where('account_id', '=', account_id)
    .where('registrable', '=', registrable)
    .execute();
}

/** Sets the time of the next check, unless the verification has been completed. */
export async function setNextCheck(
  queries: Queries,
  { account_id, registrable }: Pick<Verification, 'account_id' | 'registrable'>,
  next_look_at: string,
): Promise<void> {
  await queries
    .updateTable('domain_proofs')
    .set({ next_look_at })
    .where('account_id', '=', account_id)
    .where('registrable', '=', registrable)
    .where('verified_at', 'is', null)
    .execute();
}

/** Verifications to check, longest due first. */
export function dueVerifications(queries: Queries, now: string, limit: number): Promise<Verification[]> {
  return select(queries).where('next_look_at', '<=', now).orderBy('next_look_at').limit(limit).execute();
}

export async function deleteVerification(
  queries: Queries,
  { account_id, registrable }: Pick<Verification, 'account_id' | 'registrable'>,
): Promise<void> {
  await queries
    .deleteFrom('domain_proofs')
    .where('account_id', '=', account_id)
    .where('registrable', '=', registrable)
    .where('verified_at', 'is', null)
    .execute();
}

/** The names that an account has at or below a registrable domain. */
export async function namesWithin(
  queries: Queries,
  accountId: string,
  registrable: string,
): Promise<string[]> {
  const rows = await queries
    .selectFrom('domains as domain')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .select('domain.name')
    .distinct()
    .where('install.account_id', '=', accountId)
    .where('domain.is_cname', '=', false)
    // Names contain no wildcard characters of LIKE.
    .where((eb) =>
      eb.or([eb('domain.name', '=', registrable), sql<boolean>`domain.name like ${`%.${registrable}`}`]),
    )
    .orderBy('domain.name')
    .execute();
  return rows.map(({ name }) => name);
}
