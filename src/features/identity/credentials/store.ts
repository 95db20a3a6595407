import type { ExpressionBuilder, Insertable } from 'kysely';
import type { Caller } from '../../../access/caller.ts';
import { inScope, loadScope, type Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';

/** A credential without its password. */
export interface CredentialRow {
  /** The API username. */
  id: string;
  name: string;
  email: string;
  read_only: boolean;
  account_id: string | null;
  account_name: string | null;
  /** An array of ids, or null; not validated. */
  install_ids: unknown;
  expires_at: string | null;
  revoked_at: string | null;
  last_used_at: string | null;
  created_at: string;
}

/** Selects credentials with their user and the account that they are limited to. */
const credentialsOf = (queries: Queries) =>
  queries
    .selectFrom('credentials as credential')
    .innerJoin('users as person', 'person.id', 'credential.user_id')
    .leftJoin('accounts as account', 'account.id', 'credential.account_id')
    .select([
      'credential.id',
      'credential.name',
      'person.email',
      'credential.read_only',
      'credential.account_id',
      'account.name as account_name',
      'credential.install_ids',
      'credential.expires_at',
      'credential.revoked_at',
      'credential.last_used_at',
      'credential.created_at',
    ]);

/** Finds any user's credential. */
export function findCredential(queries: Queries, id: string): Promise<CredentialRow | undefined> {
  return credentialsOf(queries).where('credential.id', '=', id).executeTakeFirst();
}

/** The credentials of one user (by email key) or of all, oldest first. */
export function allCredentials(queries: Queries, emailKey?: string): Promise<CredentialRow[]> {
  return credentialsOf(queries)
    .$if(emailKey !== undefined, (query) => query.where('person.email_key', '=', emailKey ?? ''))
    .orderBy('credential.seq')
    .execute();
}

/** The user of a credential, with its limits and its end. */
export function findCredentialOwner(queries: Queries, id: string) {
  return queries
    .selectFrom('credentials')
    .select(['user_id', 'name', 'read_only', 'account_id', 'install_ids', 'expires_at', 'revoked_at'])
    .where('id', '=', id)
    .executeTakeFirst();
}

/** Inserts an active, unused credential. */
export async function insertCredential(
  queries: Queries,
  credential: Omit<Insertable<Tables['credentials']>, 'revoked_at' | 'last_used_at'>,
): Promise<void> {
  await queries
    .insertInto('credentials')
    .values({ ...credential, revoked_at: null, last_used_at: null })
    .execute();
}

/** Returns false if it is already revoked. */
export async function revokeCredential(queries: Queries, id: string, now: string): Promise<boolean> {
  const revoked = await queries
    .updateTable('credentials')
    .set({ revoked_at: now })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .returning('id')
    .execute();
  return revoked.length > 0;
}

/** A user's credentials that are active or ended since a time, latest first. */
export const ownCredentials = (queries: Queries, userId: string, endedSince: string) =>
  credentialsOf(queries)
    .where('credential.user_id', '=', userId)
    .where(({ eb, fn }) => {
      const end = fn.coalesce('credential.revoked_at', 'credential.expires_at');
      return eb.or([eb(end, 'is', null), eb(end, '>=', endedSince)]);
    })
    .orderBy('credential.seq', 'desc')
    .execute();

const isActive = (now: string) => (eb: ExpressionBuilder<Tables, 'credentials'>) =>
  eb.and([eb('revoked_at', 'is', null), eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', now)])]);

/** Deletes credentials that were revoked or expired before a time. The activity log keeps their names. */
export async function deleteEndedCredentials(queries: Queries, before: string): Promise<void> {
  await queries
    .deleteFrom('credentials')
    .where(({ eb, fn }) => eb(fn.coalesce('revoked_at', 'expires_at'), '<', before))
    .execute();
}

/** Revokes a user's active credentials, and returns them. */
export function revokeActive(queries: Queries, userId: string, now: string) {
  return queries
    .updateTable('credentials')
    .set({ revoked_at: now })
    .where('user_id', '=', userId)
    .where(isActive(now))
    .returning(['id', 'name', 'account_id'])
    .execute();
}

/** The number of a user's active credentials. */
export async function countActive(queries: Queries, userId: string, now: string): Promise<number> {
  const { count } = await queries
    .selectFrom('credentials')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .where(isActive(now))
    .executeTakeFirstOrThrow();
  return count;
}

export interface NamedInstall {
  id: string;
  name: string;
}

/** Stays below the parameter limits of both databases. */
const IDS_AT_ONCE = 10_000;

/** Names of the installs that exist and that `scope` shows, by id. Without a scope: all that exist. */
export async function findInstallNames(
  queries: Queries,
  ids: ReadonlySet<string>,
  scope: Scope | null,
): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  const all = [...ids];
  for (let from = 0; from < all.length; from += IDS_AT_ONCE) {
    const found = await queries
      .selectFrom('installs as install')
      .select(['install.id', 'install.name'])
      .where('install.id', 'in', all.slice(from, from + IDS_AT_ONCE))
      .where((eb) => (scope === null ? eb.lit(true) : inScope(eb, scope)))
      .execute();
    for (const { id, name } of found) names.set(id, name);
  }
  return names;
}

/** The installs of an account that a caller sees, out of those with the given ids or names; oldest first. */
export async function findSeenInstalls(
  queries: Queries,
  caller: Caller,
  accountId: string,
  { by, values }: { by: 'id' | 'name'; values: readonly string[] },
): Promise<NamedInstall[]> {
  if (values.length === 0) return [];
  const scope = await loadScope(queries, caller, accountId);
  return queries
    .selectFrom('installs as install')
    .select(['install.id', 'install.name'])
    .where((eb) => inScope(eb, scope))
    .where(`install.${by}`, 'in', values)
    .orderBy('install.seq')
    .execute();
}
