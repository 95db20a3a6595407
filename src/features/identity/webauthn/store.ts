import type { Insertable } from 'kysely';
import type { Queries } from '../../../database/database.ts';
import type { Tables } from '../../../database/tables.ts';
import type { PasskeyView } from './schema.ts';

const VIEW = ['id', 'name', 'synced', 'created_at', 'last_used_at'] as const;

/** A passkey with what is needed to check its signature. */
export interface PasskeyKey {
  id: string;
  user_id: string;
  name: string;
  credential_id: string;
  public_key: string;
  counter: number;
}

/** A user's passkeys, oldest first. */
export function findPasskeysOf(queries: Queries, userId: string): Promise<PasskeyView[]> {
  return queries.selectFrom('passkeys').select(VIEW).where('user_id', '=', userId).orderBy('seq').execute();
}

/** What a browser needs to find a user's passkeys. `transports` are separated by spaces. */
export function findDescriptorsOf(
  queries: Queries,
  userId: string,
): Promise<{ credential_id: string; transports: string }[]> {
  return queries
    .selectFrom('passkeys')
    .select(['credential_id', 'transports'])
    .where('user_id', '=', userId)
    .orderBy('seq')
    .execute();
}

export async function countPasskeys(queries: Queries, userId: string): Promise<number> {
  const { count } = await queries
    .selectFrom('passkeys')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('user_id', '=', userId)
    .executeTakeFirstOrThrow();
  return count;
}

export function findPasskeyByCredential(
  queries: Queries,
  credentialId: string,
): Promise<PasskeyKey | undefined> {
  return queries
    .selectFrom('passkeys')
    .select(['id', 'user_id', 'name', 'credential_id', 'public_key', 'counter'])
    .where('credential_id', '=', credentialId)
    .executeTakeFirst();
}

export async function insertPasskey(
  queries: Queries,
  passkey: Insertable<Tables['passkeys']>,
): Promise<PasskeyView> {
  return queries.insertInto('passkeys').values(passkey).returning(VIEW).executeTakeFirstOrThrow();
}

/**
 * Notes a use. Returns false if the passkey is gone, or its counter did not grow since the last use. A counter that stays at 0 is not
 * kept by the authenticator (WebAuthn, section 6.1.1).
 */
export async function notePasskeyUse(
  queries: Queries,
  { id, counter, synced, minute }: { id: string; counter: number; synced: boolean; minute: string },
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('passkeys')
    .set({ counter, synced, last_used_at: minute })
    .where('id', '=', id)
    .where('counter', counter === 0 ? '=' : '<', counter)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Renames a passkey; undefined if the user has no such passkey. */
export function renamePasskey(
  queries: Queries,
  userId: string,
  { id, name }: { id: string; name: string },
): Promise<PasskeyView | undefined> {
  return queries
    .updateTable('passkeys')
    .set({ name })
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returning(VIEW)
    .executeTakeFirst();
}

/** Deletes and returns a user's passkey; undefined if they have no such passkey. */
export function deletePasskey(
  queries: Queries,
  userId: string,
  id: string,
): Promise<{ id: string; name: string } | undefined> {
  return queries
    .deleteFrom('passkeys')
    .where('id', '=', id)
    .where('user_id', '=', userId)
    .returning(['id', 'name'])
    .executeTakeFirst();
}

/** Deletes all passkeys of a user. Returns how many there were. */
export async function deletePasskeysOf(queries: Queries, userId: string): Promise<number> {
  const { numDeletedRows } = await queries
    .deleteFrom('passkeys')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Notes that a challenge was used. Returns false if it was noted before. */
export async function addSpentChallenge(
  queries: Queries,
  challenge: Insertable<Tables['spent_passkey_challenges']>,
): Promise<boolean> {
  const added = await queries
    .insertInto('spent_passkey_challenges')
    .values(challenge)
    .onConflict((conflict) => conflict.column('challenge_hash').doNothing())
    .returning('challenge_hash')
    .executeTakeFirst();
  return added !== undefined;
}

/** Deletes used challenges that have expired anyway. `now`: ISO 8601 in UTC. */
export async function deleteExpiredChallenges(queries: Queries, now: string): Promise<void> {
  await queries.deleteFrom('spent_passkey_challenges').where('expires_at', '<=', now).execute();
}
