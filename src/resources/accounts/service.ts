import { type Caller, countsOpenInvitations, OPERATOR } from '../../access/caller.ts';
import { findMembership } from '../../access/memberships.ts';
import { authorize } from '../../access/permissions.ts';
import { timestamp } from '../../clock.ts';
import type { Queries } from '../../database/database.ts';
import { lockRow } from '../../database/lock.ts';
import { InvalidRequest, NotFound } from '../../failures.ts';
import type { PageOf, PageRequest } from '../../page.ts';
import type { Platform } from '../../platform.ts';

export interface AccountView {
  id: string;
  name: string;
}

/** What the owners of an account decide about it. */
export interface AccountSettings extends AccountView {
  /** Whether its people must have a second factor to work in it through the portal. */
  requires_second_factor: boolean;
}

export type AccountChange = Partial<Omit<AccountSettings, 'id'>>;

export type AccountService = ReturnType<typeof createAccountService>;

export function createAccountService({
  database,
  clock,
  random,
  activity,
}: Pick<Platform, 'database' | 'clock' | 'random' | 'activity'>) {
  const { reader } = database;
  return {
    async list(caller: Caller, page: PageRequest): Promise<PageOf<AccountView>> {
      const only = caller.limits?.accountId ?? null;
      const mine = reader
        .selectFrom('memberships as member')
        .innerJoin('accounts as account', 'account.id', 'member.account_id')
        .where('member.user_id', '=', caller.userId)
        .$if(only !== null, (query) => query.where('account.id', '=', only))
        .$if(!countsOpenInvitations(caller), (query) => query.where('member.invite_accepted', '=', true));
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
      await database.write(async (transaction) => {
        await transaction.queries
          .insertInto('accounts')
          .values({ ...account, created_at: timestamp(clock) })
          .execute();
        await activity.record(transaction, OPERATOR, account.id, {
          action: 'account.create',
          subject: account,
        });
      });
      return account;
    },

    /** Throws NotFound, Forbidden, InvalidRequest. */
    update: (caller: Caller, id: string, change: AccountChange): Promise<AccountSettings> =>
      database.write(async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'accounts', id);
        const member = await findMembership(queries, caller, id);
        authorize('account.change', 'account.read', { role: member?.role ?? null, own: false });
        const present = await queries
          .selectFrom('accounts')
          .select(['id', 'name', 'requires_second_factor'])
          .where('id', '=', id)
          .executeTakeFirst();
        if (!present) throw new NotFound();
        const wanted = {
          name: change.name?.trim() ?? present.name,
          requires_second_factor: change.requires_second_factor ?? present.requires_second_factor,
        };
        const details = differences(present, wanted);
        if (details === null) return present;
        if (details.requires_second_factor === true) await requireOwnSecondFactor(queries, caller);
        await queries.updateTable('accounts').set(wanted).where('id', '=', id).execute();
        await activity.record(transaction, caller, id, {
          action: 'account.update',
          subject: { id, name: wanted.name },
          details,
        });
        return { id, ...wanted };
      }),

    /** For the command line: every account of the platform, oldest first. */
    listAll: (): Promise<AccountView[]> =>
      reader.selectFrom('accounts').select(['id', 'name']).orderBy('seq').execute(),
  };
}

/** What a change changes, as it is written down; null: nothing. */
function differences(present: AccountSettings, wanted: Omit<AccountSettings, 'id'>) {
  const isRenamed = wanted.name !== present.name;
  const isSwitched = wanted.requires_second_factor !== present.requires_second_factor;
  if (!isRenamed && !isSwitched) return null;
  return {
    ...(isRenamed ? { from: present.name, to: wanted.name } : {}),
    ...(isSwitched ? { requires_second_factor: wanted.requires_second_factor } : {}),
  };
}

/** Whoever demands it of others has one: they would lock themselves out, too. */
async function requireOwnSecondFactor(queries: Queries, { userId }: Caller): Promise<void> {
  const user = await queries
    .selectFrom('users')
    .select('mfa_enabled')
    .where('id', '=', userId)
    .executeTakeFirst();
  if (user?.mfa_enabled !== true) throw new InvalidRequest('Switch on your own second factor first');
}
