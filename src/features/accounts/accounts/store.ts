import { type Caller, countsOpenInvitations } from '../../../access/caller.ts';
import type { Queries } from '../../../database/database.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';

export interface AccountView {
  id: string;
  name: string;
  /** The nickname; the name without one. */
  nickname: string;
}

/** Settings of an account that its owners change. */
export interface AccountSettings {
  id: string;
  name: string;
  nickname: string | null;
  /** Whether users need a second factor to work in the account through the portal. */
  requires_second_factor: boolean;
}

/** The accounts that a caller may see, oldest first. */
export async function pageOfAccounts(
  queries: Queries,
  caller: Caller,
  page: PageRequest,
): Promise<PageOf<AccountView>> {
  const only = caller.limits?.accountId ?? null;
  const mine = queries
    .selectFrom('memberships as member')
    .innerJoin('accounts as account', 'account.id', 'member.account_id')
    .where('member.user_id', '=', caller.userId)
    .$if(only !== null, (query) => query.where('account.id', '=', only))
    .$if(!countsOpenInvitations(caller), (query) => query.where('member.invite_accepted', '=', true));
  const [{ count }, results] = await Promise.all([
    mine.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
    mine
      .select(['account.id', 'account.name'])
      .select((eb) => eb.fn.coalesce('account.nickname', 'account.name').as('nickname'))
      .orderBy('account.seq')
      .limit(page.limit)
      .offset(page.offset)
      .execute(),
  ]);
  return { count, results };
}

/** Every account of the platform, oldest first. */
export function allAccounts(queries: Queries): Promise<AccountView[]> {
  return queries
    .selectFrom('accounts')
    .select(['id', 'name'])
    .select((eb) => eb.fn.coalesce('nickname', 'name').as('nickname'))
    .orderBy('seq')
    .execute();
}

export function findAccount(queries: Queries, id: string): Promise<AccountSettings | undefined> {
  return queries
    .selectFrom('accounts')
    .select(['id', 'name', 'nickname', 'requires_second_factor'])
    .where('id', '=', id)
    .executeTakeFirst();
}

export async function insertAccount(
  queries: Queries,
  account: Pick<AccountView, 'id' | 'name'> & { created_at: string },
): Promise<void> {
  await queries.insertInto('accounts').values(account).execute();
}

export async function updateAccount(
  queries: Queries,
  id: string,
  change: Omit<AccountSettings, 'id'>,
): Promise<void> {
  await queries.updateTable('accounts').set(change).where('id', '=', id).execute();
}
