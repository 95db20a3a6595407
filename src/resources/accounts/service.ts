import type { Caller } from '../../access/caller.ts';
import { findMembership } from '../../access/memberships.ts';
import { authorize } from '../../access/permissions.ts';
import { timestamp } from '../../clock.ts';
import { NotFound } from '../../failures.ts';
import type { PageOf, PageRequest } from '../../page.ts';
import type { Platform } from '../../platform.ts';

export interface AccountView {
  id: string;
  name: string;
}

export type AccountService = ReturnType<typeof createAccountService>;

export function createAccountService({
  database,
  clock,
  random,
}: Pick<Platform, 'database' | 'clock' | 'random'>) {
  const { reader } = database;
  return {
    async list(caller: Caller, page: PageRequest): Promise<PageOf<AccountView>> {
      const mine = reader
        .selectFrom('memberships as member')
        .innerJoin('accounts as account', 'account.id', 'member.account_id')
        .where('member.user_id', '=', caller.userId);
      const [{ count }, results] = await Promise.all([
        mine.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
        mine
          .select(['account.id', 'account.name'])
          .orderBy('account.seq')
          .limit(page.limit)
          .offset(page.offset)
          .execute(),
      ]);
      return { count, results };
    },

    async get(caller: Caller, id: string): Promise<AccountView> {
      const member = await findMembership(reader, caller, id);
      authorize('account.read', 'account.read', { role: member?.role ?? null, own: false });
      const account = await reader
        .selectFrom('accounts')
        .select(['id', 'name'])
        .where('id', '=', id)
        .executeTakeFirst();
      if (!account) throw new NotFound();
      return account;
    },

    /** For the command line: accounts are not made through the API. */
    async create(name: string): Promise<AccountView> {
      const account = { id: random.uuid(), name };
      await database.write(({ queries }) =>
        queries
          .insertInto('accounts')
          .values({ ...account, created_at: timestamp(clock) })
          .execute(),
      );
      return account;
    },

    /** Throws NotFound, Forbidden. */
    async update(
      _caller: Caller,
      _id: string,
      _change: { name?: string; requires_second_factor?: boolean },
    ): Promise<AccountView & { requires_second_factor: boolean }> {
      throw new Error('being built');
    },

    /** For the command line: every account of the platform, oldest first. */
    listAll: (): Promise<AccountView[]> =>
      reader.selectFrom('accounts').select(['id', 'name']).orderBy('seq').execute(),
  };
}
