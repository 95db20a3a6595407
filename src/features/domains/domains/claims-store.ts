import { sql } from 'kysely';
import { wantsMail } from '../../../access/owners.ts';
import type { Queries } from '../../../database/database.ts';
import type { NotificationCategory } from '../../../lib/notification-categories.ts';
import type { Claim } from './claims.ts';
import { endingBelow, namesAbove, ownershipDomainOf } from './ownership.ts';

/** All claims on a name, oldest first. */
export async function claimsOn(queries: Queries, name: string): Promise<Claim[]> {
  const rows = await queries
    .selectFrom('domains as domain')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .leftJoin('domain_proofs as proof', (join) =>
      join
        .onRef('proof.account_id', '=', 'install.account_id')
        .on('proof.registrable', '=', ownershipDomainOf(name)),
    )
    .select(['domain.id', 'domain.install_id', 'install.account_id'])
    .select(['domain.is_duplicate', 'domain.needs_proof', 'proof.verified_at'])
    .where('domain.name', '=', name)
    .orderBy('domain.seq')
    .execute();
  return rows.map(({ is_duplicate, verified_at, ...claim }) => ({
    ...claim,
    serves: !is_duplicate,
    verified: verified_at !== null,
  }));
}

/** Lets a domain serve its name. The domain that served it must be withheld first. */
export async function serveName(queries: Queries, domainId: string): Promise<void> {
  await queries
    .updateTable('domains')
    .set({ is_duplicate: false, needs_proof: false })
    .where('id', '=', domainId)
    .execute();
}

/**
 * Stops a domain from serving its name until its account has verified it. Deletes its certificate. If it was the primary
 * domain, the install's default domain becomes primary.
 */
export async function withholdName(
  queries: Queries,
  { id, install_id }: Pick<Claim, 'id' | 'install_id'>,
): Promise<void> {
  const { is_primary } = await queries
    .selectFrom('domains')
    .select('is_primary')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await queries
    .updateTable('domains')
    .set({
      is_duplicate: true,
      needs_proof: true,
      is_primary: false,
      network_status: 'PENDING',
      ssl_status: 'pending',
      ssl_reason: null,
      reached: null,
      checked_at: null,
    })
    .where('id', '=', id)
    .execute();
  if (is_primary) {
    await queries
      .updateTable('domains')
      .set({ is_primary: true, redirect_to_id: null })
      .where('install_id', '=', install_id)
      .where('is_cname', '=', true)
      .execute();
  }
  await queries.deleteFrom('certificate_attempts').where('domain_id', '=', id).execute();
  await queries.deleteFrom('certificates').where('domain_id', '=', id).execute();
}

/** Sets whether domains must be verified before they serve their name. */
export async function setNeedsProof(
  queries: Queries,
  claims: readonly Pick<Claim, 'id'>[],
  needs_proof: boolean,
): Promise<void> {
  if (claims.length === 0) return;
  const ids = claims.map(({ id }) => id);
  await queries.updateTable('domains').set({ needs_proof }).where('id', 'in', ids).execute();
}

/**
 * The owners of an install's account who have accepted their invitation, with the names of install and account. With `category`, without
 * those who chose no emails or daily emails for its notifications.
 */
export function ownersOfInstall(queries: Queries, installId: string, category?: NotificationCategory) {
  return queries
    .selectFrom('installs as install')
    .innerJoin('accounts as account', 'account.id', 'install.account_id')
    .innerJoin('memberships as member', 'member.account_id', 'account.id')
    .innerJoin('users as person', 'person.id', 'member.user_id')
    .select(['member.user_id', 'person.email', 'person.first_name'])
    .select(['install.name as install', 'account.name as account'])
    .where('install.id', '=', installId)
    .where('member.role', '=', 'owner')
    .where('member.invite_accepted', '=', true)
    .where((eb) => (category === undefined ? eb.lit(true) : wantsMail(eb, category)))
    .orderBy('member.seq')
    .execute();
}

/** Whether an install of the account serves the name. */
export async function isServedByAccount(queries: Queries, accountId: string, name: string): Promise<boolean> {
  const row = await queries
    .selectFrom('domains as domain')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .select('domain.id')
    .where('domain.name', '=', name)
    .where('domain.is_duplicate', '=', false)
    .where('install.account_id', '=', accountId)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Whether the account must verify a name because another account
 * - has verified the domain,
 * - serves the name, a name above it or a wildcard of these, or released one of them after `heldSince`, or
 * - has a name below it, if the name is a wildcard.
 */
export async function isHeldElsewhere(
  queries: Queries,
  accountId: string,
  name: string,
  heldSince: string,
): Promise<boolean> {
  const above = namesAbove(name);
  const ending = endingBelow(name);
  const isInTheWay = (column: 'domain.name' | 'released.name') =>
    ending === null
      ? sql<boolean>`${sql.ref(column)} in (${sql.join(above)})`
      : // Names contain no wildcard characters of LIKE.
        sql<boolean>`(${sql.ref(column)} in (${sql.join(above)}) or ${sql.ref(column)} like ${`%${ending}`})`;
  const proven = await queries
    .selectFrom('domain_proofs')
    .select('account_id')
    .where('registrable', '=', ownershipDomainOf(name))
    .where('account_id', '!=', accountId)
    .where('verified_at', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  if (proven) return true;
  const served = await queries
    .selectFrom('domains as domain')
    .innerJoin('installs as install', 'install.id', 'domain.install_id')
    .select('domain.id')
    .where(isInTheWay('domain.name'))
    .where('domain.is_duplicate', '=', false)
    .where('install.account_id', '!=', accountId)
    .limit(1)
    .executeTakeFirst();
  if (served) return true;
  const released = await queries
    .selectFrom('released_names as released')
    .select('released.name')
    .where(isInTheWay('released.name'))
    .where('released.account_id', '!=', accountId)
    .where('released.released_at', '>', heldSince)
    .limit(1)
    .executeTakeFirst();
  return released !== undefined;
}

/** Records that an account released a name. */
export async function recordReleased(
  queries: Queries,
  released: { name: string; account_id: string; released_at: string },
): Promise<void> {
  const { released_at } = released;
  await queries
    .insertInto('released_names')
    .values(released)
    .onConflict((conflict) => conflict.columns(['name', 'account_id']).doUpdateSet({ released_at }))
    .execute();
}

/** Deletes records of names that were released before a time. */
export async function deleteReleasedBefore(queries: Queries, before: string): Promise<void> {
  await queries.deleteFrom('released_names').where('released_at', '<', before).execute();
}
