import type { Queries } from '../../../database/database.ts';
import type { MemberRole } from '../../../lib/roles.ts';
import { insertAccount } from '../accounts/store.ts';

/** A member of an account. */
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

/** An owner of an account. */
export type Owner = Pick<MemberRow, 'user_id' | 'invite_accepted'>;

export interface GrantedInstall {
  user_id: string;
  id: string;
  name: string;
}

/** A user with their accounts. */
export interface Person {
  id: string;
  email: string;
  first_name: string;
  last_name: string;
  is_operator: boolean;
  accounts: (MemberRole & { id: string; name: string; invite_accepted: boolean })[];
}

/** Users, oldest first: all, those of one account (listing only that account), or the one with an address. */
export async function findPeople(
  queries: Queries,
  { accountId, email }: { accountId?: string; email?: string },
): Promise<Person[]> {
  const rows = await queries
    .selectFrom('users as person')
    .leftJoin('memberships as member', 'member.user_id', 'person.id')
    .leftJoin('accounts as account', 'account.id', 'member.account_id')
    .select([
      'person.id',
      'person.email',
      'person.first_name',
      'person.last_name',
      'person.is_operator',
      'account.id as account_id',
      'account.name as account_name',
      'member.role',
      'member.billing',
      'member.invite_accepted',
    ])
    .$if(accountId !== undefined, (query) => query.where('member.account_id', '=', accountId ?? ''))
    .$if(email !== undefined, (query) => query.where('person.email_key', '=', (email ?? '').toLowerCase()))
    .orderBy('person.seq')
    .orderBy('member.seq')
    .execute();
  const people = new Map<string, Person>();
  for (const { id, account_id, account_name, ...row } of rows) {
    const { email, first_name, last_name, is_operator, ...member } = row;
    const person = people.get(id) ?? { id, email, first_name, last_name, is_operator, accounts: [] };
    people.set(id, person);
    const { role, billing, invite_accepted } = member;
    if (account_id === null || account_name === null) continue;
    if (role === null || billing === null || invite_accepted === null) continue;
    person.accounts.push({ id: account_id, name: account_name, role, billing, invite_accepted });
  }
  return [...people.values()];
}

/** Ids of the account's installs with these names, by name. */
export async function findInstallIds(
  queries: Queries,
  accountId: string,
  names: string[],
): Promise<Map<string, string>> {
  if (names.length === 0) return new Map();
  const rows = await queries
    .selectFrom('installs')
    .select(['id', 'name'])
    .where('account_id', '=', accountId)
    .where('name', 'in', names)
    .execute();
  return new Map(rows.map(({ id, name }) => [name, id]));
}

/**
 * The members of an account, oldest first, or only `userId`. Until a member accepts, the account sees only the details
 * that they were invited with.
 */
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
      'member.invited_first_name',
      'member.invited_last_name',
      'person.first_name',
      'person.last_name',
      'person.email',
      'person.phone',
      'person.mfa_enabled',
    ])
    .where('member.account_id', '=', accountId)
    .orderBy('member.seq');
  if (userId !== undefined) query = query.where('member.user_id', '=', userId);
  const rows = await query.execute();
  return rows.map(({ invited_first_name, invited_last_name, ...member }) => {
    if (member.invite_accepted) return member;
    return {
      ...member,
      first_name: invited_first_name ?? member.first_name,
      last_name: invited_last_name ?? member.last_name,
      phone: null,
      mfa_enabled: false,
    };
  });
}

export async function findUserId(queries: Queries, emailKey: string): Promise<string | undefined> {
  const known = await queries
    .selectFrom('users')
    .select('id')
    .where('email_key', '=', emailKey)
    .executeTakeFirst();
  return known?.id;
}

/** Inserts a user without a password. A second user with the same address violates `users.email_key`. */
export async function insertUser(
  queries: Queries,
  person: { id: string; email: string; first_name: string; last_name: string; created_at: string },
): Promise<void> {
  await queries
    .insertInto('users')
    .values({ ...person, email_key: person.email.toLowerCase(), phone: null, password_hash: null })
    .execute();
}

/** Inserts a membership. It is open if `invited_as` gives the name in the invitation, otherwise accepted. */
export async function insertMember(
  queries: Queries,
  {
    invited_as = null,
    ...member
  }: MemberRole & {
    account_id: string;
    user_id: string;
    created_at: string;
    invited_as?: { first_name: string; last_name: string } | null;
  },
): Promise<void> {
  await queries
    .insertInto('memberships')
    .values({
      ...member,
      invite_accepted: invited_as === null,
      invited_first_name: invited_as?.first_name ?? null,
      invited_last_name: invited_as?.last_name ?? null,
    })
    .execute();
}

export async function setMemberRole(
  queries: Queries,
  accountId: string,
  userId: string,
  role: MemberRole,
): Promise<void> {
  await queries
    .updateTable('memberships')
    .set(role)
    .where('account_id', '=', accountId)
    .where('user_id', '=', userId)
    .execute();
}

export async function deleteMember(
  queries: Queries,
  { account_id, user_id }: Pick<MemberRow, 'account_id' | 'user_id'>,
): Promise<void> {
  await queries
    .deleteFrom('memberships')
    .where('account_id', '=', account_id)
    .where('user_id', '=', user_id)
    .execute();
}

/** Installs granted to the members of an account, or to `userId`; oldest install first. */
export async function findGrantedInstalls(
  queries: Queries,
  accountId: string,
  userId?: string,
): Promise<GrantedInstall[]> {
  let query = queries
    .selectFrom('install_grants as given')
    .innerJoin('installs as install', 'install.id', 'given.install_id')
    .select(['given.user_id', 'install.id', 'install.name'])
    .where('given.account_id', '=', accountId)
    .orderBy('install.seq');
  if (userId !== undefined) query = query.where('given.user_id', '=', userId);
  return query.execute();
}

export async function findOwners(queries: Queries, accountId: string): Promise<Owner[]> {
  return queries
    .selectFrom('memberships')
    .select(['user_id', 'invite_accepted'])
    .where('account_id', '=', accountId)
    .where('role', '=', 'owner')
    .execute();
}

/** Grants a member exactly these installs. Returns false without a change if one is not in the account. */
export async function setInstallGrants(
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

/** A new account and its new owner. */
export interface OwnedAccount {
  account: { id: string; name: string };
  owner: { id: string; email: string; first_name: string; last_name: string };
  created_at: string;
}

/** Inserts an account and its owner, whose membership counts as accepted. */
export async function insertOwnedAccount(
  queries: Queries,
  { account, owner, created_at }: OwnedAccount,
): Promise<void> {
  await insertAccount(queries, { ...account, created_at });
  await insertUser(queries, { ...owner, created_at });
  const membership = { account_id: account.id, user_id: owner.id };
  await insertMember(queries, { ...membership, role: 'owner', billing: false, created_at });
}
