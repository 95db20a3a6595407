import type { Insertable, SelectQueryBuilder } from 'kysely';
import { type Caller, countsOpenInvitations } from '../../access/caller.ts';
import { limitedRole } from '../../access/limits.ts';
import type { Queries } from '../../database/database.ts';
import { OPEN_TRANSFER, type SiteTransferRow, type TransferStatus } from '../../database/tables/transfers.ts';
import type { Tables } from '../../database/tables.ts';
import type { PageOf, PageRequest } from '../../lib/page.ts';
import type { Role } from '../../lib/roles.ts';

/** A transfer with the names of its accounts. */
export interface TransferRow extends Omit<SiteTransferRow, 'seq' | 'installs'> {
  /** Array of `{id, name}`, not validated. */
  installs: unknown;
  origin_name: string;
  /** Null if no account has the id. */
  destination_name: string | null;
}

const transfers = (queries: Queries) =>
  queries
    .selectFrom('site_transfers as transfer')
    .innerJoin('accounts as origin', 'origin.id', 'transfer.origin_account_id')
    .leftJoin('accounts as destination', 'destination.id', 'transfer.destination_account_id')
    .select([
      'transfer.id',
      'transfer.site_id',
      'transfer.site_name',
      'transfer.installs',
      'transfer.origin_account_id',
      'transfer.destination_account_id',
      'transfer.status',
      'transfer.awaits_acceptance',
      'transfer.requested_by',
      'transfer.accepted_by',
      'transfer.scheduled_time',
      'transfer.expires_at',
      'transfer.reason',
      'transfer.created_at',
      'transfer.updated_at',
      'origin.name as origin_name',
      'destination.name as destination_name',
    ]);

export function findTransfer(queries: Queries, id: string): Promise<TransferRow | undefined> {
  return transfers(queries).where('transfer.id', '=', id).executeTakeFirst();
}

/** Transfers of a site, or from and to an account. */
export type TransferFilter =
  | { accountId: string }
  /** Only those from or to one of the accounts. */
  | { siteId: string; accountIds: readonly string[] };

/** A page of transfers, oldest first. */
export async function pageOfTransfers(
  queries: Queries,
  filter: TransferFilter,
  page: PageRequest,
): Promise<PageOf<TransferRow>> {
  const [{ count }, results] = await Promise.all([
    matching(queries.selectFrom('site_transfers as transfer'), filter)
      .select((eb) => eb.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow(),
    transfers(queries)
      .where('transfer.seq', 'in', () =>
        matching(queries.selectFrom('site_transfers as transfer'), filter)
          .select('transfer.seq')
          .orderBy('transfer.seq')
          .limit(page.limit)
          .offset(page.offset),
      )
      .orderBy('transfer.seq')
      .execute(),
  ]);
  return { count, results };
}

type OfTransfers = SelectQueryBuilder<
  Tables & { transfer: Tables['site_transfers'] },
  'transfer',
  Record<never, never>
>;

function matching(query: OfTransfers, filter: TransferFilter): OfTransfers {
  const accountIds = 'accountId' in filter ? [filter.accountId] : filter.accountIds;
  const ofAccounts = query.where((eb) =>
    accountIds.length === 0
      ? eb.lit(false)
      : eb.or([
          eb('transfer.origin_account_id', 'in', accountIds),
          eb('transfer.destination_account_id', 'in', accountIds),
        ]),
  );
  return 'siteId' in filter ? ofAccounts.where('transfer.site_id', '=', filter.siteId) : ofAccounts;
}

/** The caller's role in each of their accounts. */
export async function rolesOf(queries: Queries, caller: Caller): Promise<Map<string, Role>> {
  const rows = await queries
    .selectFrom('memberships')
    .select(['account_id', 'role'])
    .where('user_id', '=', caller.userId)
    .$if(!countsOpenInvitations(caller), (query) => query.where('invite_accepted', '=', true))
    .execute();
  return new Map(
    rows.flatMap(({ account_id, role }) => {
      const left = limitedRole(caller.limits, role, account_id);
      return left === null ? [] : [[account_id, left]];
    }),
  );
}

export async function insertTransfer(
  queries: Queries,
  {
    installs,
    ...transfer
  }: Omit<Insertable<Tables['site_transfers']>, 'installs' | 'reason'> & {
    installs: readonly { id: string; name: string }[];
  },
): Promise<void> {
  await queries
    .insertInto('site_transfers')
    .values({ ...transfer, installs: JSON.stringify(installs), reason: null })
    .execute();
}

/** The number of an account's open transfers to others. */
export async function countOpenTransfers(queries: Queries, accountId: string): Promise<number> {
  const { count } = await queries
    .selectFrom('site_transfers')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('origin_account_id', '=', accountId)
    .where('status', 'in', OPEN_TRANSFER)
    .executeTakeFirstOrThrow();
  return count;
}

/** Whether a site has an open transfer. */
export async function hasOpenTransfer(queries: Queries, siteId: string): Promise<boolean> {
  const row = await queries
    .selectFrom('site_transfers')
    .select('id')
    .where('site_id', '=', siteId)
    .where('status', 'in', OPEN_TRANSFER)
    .executeTakeFirst();
  return row !== undefined;
}

/** Changes a transfer, if its status is one of `from`. Returns whether it was. */
export async function changeTransfer(
  queries: Queries,
  id: string,
  from: readonly TransferStatus[],
  {
    installs,
    ...change
  }: Partial<
    Pick<SiteTransferRow, 'status' | 'awaits_acceptance' | 'accepted_by' | 'reason' | 'site_name'>
  > & { updated_at: string; installs?: readonly { id: string; name: string }[] },
): Promise<boolean> {
  const changed = await queries
    .updateTable('site_transfers')
    .set({ ...change, ...(installs ? { installs: JSON.stringify(installs) } : {}) })
    .where('id', '=', id)
    .where('status', 'in', from)
    .returning('id')
    .execute();
  return changed.length > 0;
}

/** Deletes transfers that ended before a time. */
export async function deleteTransfersBefore(queries: Queries, before: string): Promise<void> {
  await queries
    .deleteFrom('site_transfers')
    .where('updated_at', '<', before)
    .where('status', 'not in', OPEN_TRANSFER)
    .execute();
}

export async function accountExists(queries: Queries, id: string): Promise<boolean> {
  const row = await queries.selectFrom('accounts').select('id').where('id', '=', id).executeTakeFirst();
  return row !== undefined;
}

/** Whether a user is an owner of an account who has accepted the invitation. */
export async function isOwner(queries: Queries, accountId: string, userId: string): Promise<boolean> {
  const row = await queries
    .selectFrom('memberships')
    .select('user_id')
    .where('account_id', '=', accountId)
    .where('user_id', '=', userId)
    .where('role', '=', 'owner')
    .where('invite_accepted', '=', true)
    .executeTakeFirst();
  return row !== undefined;
}
