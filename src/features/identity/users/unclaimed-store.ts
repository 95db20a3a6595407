import type { Insertable } from 'kysely';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRowToDelete } from '../../../database/lock.ts';
import type { Tables } from '../../../database/tables.ts';

/** What somebody was invited to and has not accepted, with the links that went to them. */
export interface OpenInvitations {
  memberships: Insertable<Tables['memberships']>[];
  grants: Insertable<Tables['install_grants']>[];
  links: Insertable<Tables['invitations']>[];
}

/**
 * Whether nobody has ever been this person: they were invited, and nothing more. Anybody can be invited by any address, so that alone
 * makes it nobody's.
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

/** Deletes somebody who is nobody, and gives what they were invited to; undefined, having changed nothing, where they are somebody. */
export async function dissolveUnclaimed(
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

/** Invites a person to what another was invited to, by the same links; not to accounts where they are already. */
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
