import type { Insertable } from 'kysely';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRowToDelete } from '../../../database/lock.ts';
import type { Tables } from '../../../database/tables.ts';

/** The open invitations of a user, with grants and links. */
export interface OpenInvitations {
  memberships: Insertable<Tables['memberships']>[];
  grants: Insertable<Tables['install_grants']>[];
  links: Insertable<Tables['invitations']>[];
}

/**
 * Whether a user is unclaimed: only ever invited, without password, joined account, credential or SSH key. Anyone can
 * invite any address, so an invitation alone does not claim it.
 */
export async function isUnclaimed(queries: Queries, userId: string): Promise<boolean> {
  const found = await queries
    .selectFrom('users')
    .select('seq')
    .where('id', '=', userId)
    .where('password_hash', 'is', null)
    .where(({ and, not, exists, selectFrom }) => {
      const joined = selectFrom('memberships')
        .select('seq')
        .where('user_id', '=', userId)
        .where('invite_accepted', '=', true);
      const credentials = selectFrom('credentials').select('seq').where('user_id', '=', userId);
      const keys = selectFrom('ssh_keys').select('seq').where('user_id', '=', userId);
      return and([joined, credentials, keys].map((rows) => not(exists(rows))));
    })
    .executeTakeFirst();
  return found !== undefined;
}

/** Deletes an unclaimed user and returns their open invitations. Returns undefined without a change if the user is claimed. */
export async function deleteUnclaimedUser(
  transaction: Transaction,
  userId: string,
): Promise<OpenInvitations | undefined> {
  const { queries } = transaction;
  await lockRowToDelete(transaction, 'users', userId);
  if (!(await isUnclaimed(queries, userId))) return undefined;
  const memberships = await queries
    .selectFrom('memberships')
    .selectAll()
    .where('user_id', '=', userId)
    .orderBy('seq')
    .execute();
  const grants = await queries
    .selectFrom('install_grants')
    .selectAll()
    .where('user_id', '=', userId)
    .execute();
  const links = await queries.selectFrom('invitations').selectAll().where('user_id', '=', userId).execute();
  await queries.deleteFrom('users').where('id', '=', userId).execute();
  return { memberships: memberships.map(({ seq, ...member }) => member), grants, links };
}

/** Moves open invitations and their links to another user, except for accounts that the user is already in. */
export async function takeOverInvitations(
  queries: Queries,
  userId: string,
  { memberships, grants, links }: OpenInvitations,
): Promise<void> {
  const present = await queries
    .selectFrom('memberships')
    .select('account_id')
    .where('user_id', '=', userId)
    .execute();
  const known = new Set(present.map(({ account_id }) => account_id));
  const theirs = <Row extends { account_id: string }>(rows: Row[]) =>
    rows.filter(({ account_id }) => !known.has(account_id)).map((row) => ({ ...row, user_id: userId }));
  const [members, given, open] = [theirs(memberships), theirs(grants), theirs(links)];
  if (members.length > 0) await queries.insertInto('memberships').values(members).execute();
  if (given.length > 0) await queries.insertInto('install_grants').values(given).execute();
  if (open.length > 0) await queries.insertInto('invitations').values(open).execute();
}
