import type { MemberRole } from '../../access/roles.ts';
import type { Queries } from '../../database/database.ts';

/** A member of an account, with what was given to them. */
export interface MemberRow extends MemberRole {
  account_id: string;
  user_id: string;
  first_name: string;
  last_name: string;
  email: string;
  phone: string | null;
  invite_accepted: boolean;
  mfa_enabled: boolean;
}

export interface GivenInstall {
  user_id: string;
  id: string;
  name: string;
}

/** The members of an account, oldest first; or the one of them. */
export async function findMembers(
  queries: Queries,
  accountId: string,
  userId?: string,
): Promise<MemberRow[]> {
  let query = queries
    .selectFrom('memberships as member')
    .innerJoin('users as person', 'person.id', 'member.user_id')
    .select([
      'member.account_id',
      'member.user_id',
      'member.role',
      'member.billing',
      'member.invite_accepted',
      'person.first_name',
      'person.last_name',
      'person.email',
      'person.phone',
      'person.mfa_enabled',
    ])
    .where('member.account_id', '=', accountId)
    .orderBy('member.seq');
  if (userId !== undefined) query = query.where('member.user_id', '=', userId);
  return query.execute();
}

/** What was given to the members of an account, by install age. */
export async function findGivenInstalls(queries: Queries, accountId: string): Promise<GivenInstall[]> {
  return queries
    .selectFrom('install_grants as given')
    .innerJoin('installs as install', 'install.id', 'given.install_id')
    .select(['given.user_id', 'install.id', 'install.name'])
    .where('given.account_id', '=', accountId)
    .orderBy('install.seq')
    .execute();
}

export async function countOwners(queries: Queries, accountId: string): Promise<number> {
  const { count } = await queries
    .selectFrom('memberships')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('account_id', '=', accountId)
    .where('role', '=', 'owner')
    .executeTakeFirstOrThrow();
  return count;
}

/** Gives a member exactly these installs of the account. Returns false, having changed nothing, if one is not in it. */
export async function giveInstalls(
  queries: Queries,
  member: { account_id: string; user_id: string },
  installIds: string[],
): Promise<boolean> {
  const wanted = [...new Set(installIds)];
  if (wanted.length > 0) {
    const found = await queries
      .selectFrom('installs')
      .select('id')
      .where('account_id', '=', member.account_id)
      .where('id', 'in', wanted)
      .execute();
    if (found.length !== wanted.length) return false;
  }
  await queries
    .deleteFrom('install_grants')
    .where('account_id', '=', member.account_id)
    .where('user_id', '=', member.user_id)
    .execute();
  if (wanted.length > 0) {
    await queries
      .insertInto('install_grants')
      .values(wanted.map((install_id) => ({ install_id, ...member })))
      .execute();
  }
  return true;
}
