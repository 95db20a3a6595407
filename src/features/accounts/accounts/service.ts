import { type Caller, OPERATOR } from '../../../access/caller.ts';
import { findMembership } from '../../../access/memberships.ts';
import { authorize } from '../../../access/permissions.ts';
import { changeFor, readerFor } from '../../../access/request-transactions.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { InvalidRequest, NotFound } from '../../../lib/failures.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import { findUserProfile } from '../../identity/users/store.ts';
import {
  type AccountSettings,
  type AccountView,
  allAccounts,
  findAccount,
  insertAccount,
  pageOfAccounts,
  updateAccount,
} from './store.ts';

export type AccountChange = Partial<Omit<AccountSettings, 'id'>>;

export type AccountService = ReturnType<typeof createAccountService>;

export function createAccountService({
  database,
  clock,
  random,
  activity,
}: Pick<Platform, 'database' | 'clock' | 'random' | 'activity'>) {
  const { reader } = database;

  /** Changes a locked account. `mayRequireFactor` throws unless the actor may require a second factor. */
  async function applyChange(
    transaction: Transaction,
    actor: Actor,
    id: string,
    change: AccountChange,
    mayRequireFactor: () => Promise<void>,
  ): Promise<AccountSettings> {
    const { queries } = transaction;
    const present = await findAccount(queries, id);
    if (!present) throw new NotFound();
    const wanted = {
      name: change.name?.trim() ?? present.name,
      nickname: change.nickname === undefined ? present.nickname : change.nickname?.trim() || null,
      requires_second_factor: change.requires_second_factor ?? present.requires_second_factor,
    };
    const details = differences(present, wanted);
    if (details === null) return present;
    if (details.requires_second_factor === true) await mayRequireFactor();
    await updateAccount(queries, id, wanted);
    await activity.record(transaction, actor, id, {
      action: 'account.update',
      subject: { id, name: wanted.name },
      details,
    });
    return { id, ...wanted };
  }

  async function read(caller: Caller, id: string): Promise<AccountSettings> {
    const queries = readerFor(database, caller);
    const member = await findMembership(queries, caller, id);
    authorize('account.read', 'account.read', { role: member?.role ?? null, own: false });
    const account = await findAccount(queries, id);
    if (!account) throw new NotFound();
    return account;
  }

  return {
    /** Throws NotFound. */
    settings: read,

    list: (caller: Caller, page: PageRequest): Promise<PageOf<AccountView>> =>
      pageOfAccounts(reader, caller, page),

    async get(caller: Caller, id: string): Promise<AccountView> {
      const { name, nickname } = await read(caller, id);
      return { id, name, nickname: nickname ?? name };
    },

    /** For the command line: the API cannot create accounts. */
    async create(name: string): Promise<Pick<AccountView, 'id' | 'name'>> {
      const account = { id: random.uuid(), name };
      await database.write(async (transaction) => {
        await insertAccount(transaction.queries, { ...account, created_at: timestamp(clock) });
        await activity.record(transaction, OPERATOR, account.id, {
          action: 'account.create',
          subject: account,
        });
      });
      return account;
    },

    /** Throws NotFound, Forbidden, InvalidRequest. */
    update: (caller: Caller, id: string, change: AccountChange): Promise<AccountSettings> =>
      changeFor(database, caller, async (transaction) => {
        const { queries } = transaction;
        await lockRow(transaction, 'accounts', id);
        const member = await findMembership(queries, caller, id);
        authorize('account.change', 'account.read', { role: member?.role ?? null, own: false });
        return applyChange(transaction, caller, id, change, () => requireOwnSecondFactor(queries, caller));
      }),

    /** For the command line: renames an account or sets its nickname. Throws NotFound. */
    updateByOperator: (
      id: string,
      change: Pick<AccountChange, 'name' | 'nickname'>,
    ): Promise<AccountSettings> =>
      database.write(async (transaction) => {
        await lockRow(transaction, 'accounts', id);
        return applyChange(transaction, OPERATOR, id, change, async () => {});
      }),

    /** For the command line: every account of the platform, oldest first. */
    listAll: (): Promise<AccountView[]> => allAccounts(reader),
  };
}

/** The details of a change for the activity log; null if nothing changes. */
function differences(present: AccountSettings, wanted: Omit<AccountSettings, 'id'>) {
  const isRenamed = wanted.name !== present.name;
  const isSwitched = wanted.requires_second_factor !== present.requires_second_factor;
  const hasNewNickname = wanted.nickname !== present.nickname;
  if (!isRenamed && !isSwitched && !hasNewNickname) return null;
  return {
    ...(isRenamed ? { from: present.name, to: wanted.name } : {}),
    ...(hasNewNickname ? { nickname: wanted.nickname } : {}),
    ...(isSwitched ? { requires_second_factor: wanted.requires_second_factor } : {}),
  };
}

/** Requires a second factor of the caller, who would otherwise lock themselves out. */
async function requireOwnSecondFactor(queries: Queries, { userId }: Caller): Promise<void> {
  const user = await findUserProfile(queries, userId);
  if (user?.mfa_enabled !== true) throw new InvalidRequest('Switch on your own second factor first');
}
