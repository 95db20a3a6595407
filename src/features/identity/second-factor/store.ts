import type { Queries } from '../../../database/database.ts';

export interface SecondFactor {
  sealed_secret: string;
  confirmed_at: string | null;
}

export function findSecondFactor(queries: Queries, userId: string): Promise<SecondFactor | undefined> {
  return queries
    .selectFrom('second_factors')
    .select(['sealed_secret', 'confirmed_at'])
    .where('user_id', '=', userId)
    .executeTakeFirst();
}

/** Stores an unconfirmed secret, replacing an earlier one. Returns false if the second factor is already on. */
export async function offerSecret(
  queries: Queries,
  factor: { user_id: string; sealed_secret: string; created_at: string },
): Promise<boolean> {
  const noted = await queries
    .insertInto('second_factors')
    .values({ ...factor, confirmed_at: null, last_step: null })
    .onConflict((conflict) =>
      conflict
        .column('user_id')
        .doUpdateSet({ sealed_secret: factor.sealed_secret, created_at: factor.created_at })
        .where('second_factors.confirmed_at', 'is', null),
    )
    .returning('user_id')
    .executeTakeFirst();
  return noted !== undefined;
}

/** Switches the second factor on. Returns false if the secret was replaced meanwhile, or it is already on. */
export async function confirmSecret(
  queries: Queries,
  userId: string,
  { sealedSecret, step, now }: { sealedSecret: string; step: number; now: string },
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('second_factors')
    .set({ confirmed_at: now, last_step: step })
    .where('user_id', '=', userId)
    .where('sealed_secret', '=', sealedSecret)
    .where('confirmed_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Uses up a time step and all earlier ones. Returns false if it is already used, so one of two concurrent requests succeeds. */
export async function spendStep(
  queries: Queries,
  userId: string,
  { sealedSecret, step }: { sealedSecret: string; step: number },
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('second_factors')
    .set({ last_step: step })
    .where('user_id', '=', userId)
    .where('sealed_secret', '=', sealedSecret)
    .where('confirmed_at', 'is not', null)
    .where((eb) => eb.or([eb('last_step', 'is', null), eb('last_step', '<', step)]))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Uses up a recovery code. Returns false if it is unknown or already used. */
export async function spendRecoveryCode(
  queries: Queries,
  userId: string,
  codeHash: string,
  now: string,
): Promise<boolean> {
  const { numUpdatedRows } = await queries
    .updateTable('recovery_codes')
    .set({ used_at: now })
    .where('user_id', '=', userId)
    .where('code_hash', '=', codeHash)
    .where('used_at', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Counts a wrong code or passkey after a right password. Returns the number since the last right one; 0 without a second factor. */
export async function addWrongCode(queries: Queries, userId: string): Promise<number> {
  const counted = await queries
    .updateTable('users')
    .set((eb) => ({ wrong_codes: eb('wrong_codes', '+', 1) }))
    .where('id', '=', userId)
    .where('mfa_enabled', '=', true)
    .returning('wrong_codes')
    .executeTakeFirst();
  return counted?.wrong_codes ?? 0;
}

export async function resetWrongCodes(queries: Queries, userId: string): Promise<void> {
  await queries.updateTable('users').set({ wrong_codes: 0 }).where('id', '=', userId).execute();
}

export async function countRecoveryCodes(queries: Queries, userId: string): Promise<number> {
  const { left } = await queries
    .selectFrom('recovery_codes')
    .select((eb) => eb.fn.countAll<number>().as('left'))
    .where('user_id', '=', userId)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow();
  return left;
}

export async function replaceRecoveryCodes(
  queries: Queries,
  userId: string,
  codeHashes: readonly string[],
): Promise<void> {
  await queries.deleteFrom('recovery_codes').where('user_id', '=', userId).execute();
  if (codeHashes.length === 0) return;
  await queries
    .insertInto('recovery_codes')
    .values(codeHashes.map((code_hash) => ({ user_id: userId, code_hash, used_at: null })))
    .execute();
}

/** Deletes the secret of one-time codes, confirmed or not. Returns whether there was one. */
export async function deleteSecondFactor(queries: Queries, userId: string): Promise<boolean> {
  const { numDeletedRows } = await queries
    .deleteFrom('second_factors')
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Whether the user has one-time codes or passkeys. */
export async function hasSecondFactor(queries: Queries, userId: string): Promise<boolean> {
  const person = await queries
    .selectFrom('users')
    .select('mfa_enabled')
    .where('id', '=', userId)
    .executeTakeFirst();
  return person?.mfa_enabled === true;
}

/** Makes sign-ins need a second factor, after the user got their first one. */
export async function switchOn(queries: Queries, userId: string): Promise<void> {
  await queries.updateTable('users').set({ mfa_enabled: true }).where('id', '=', userId).execute();
}

/** Makes the password alone sign in again, and deletes the recovery codes. */
export async function switchOff(queries: Queries, userId: string): Promise<void> {
  await replaceRecoveryCodes(queries, userId, []);
  await queries
    .updateTable('users')
    .set({ mfa_enabled: false, wrong_codes: 0 })
    .where('id', '=', userId)
    .execute();
}

/** Names of the user's joined accounts that require a second factor, sorted. */
export async function findRequiringAccounts(queries: Queries, userId: string): Promise<string[]> {
  const accounts = await queries
    .selectFrom('memberships as member')
    .innerJoin('accounts as account', 'account.id', 'member.account_id')
    .select('account.name')
    .where('member.user_id', '=', userId)
    .where('member.invite_accepted', '=', true)
    .where('account.requires_second_factor', '=', true)
    .execute();
  return accounts.map(({ name }) => name).sort((one, other) => one.localeCompare(other, 'en'));
}
