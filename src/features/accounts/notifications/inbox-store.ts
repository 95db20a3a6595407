import type { ExpressionBuilder } from 'kysely';
import type { Scope } from '../../../access/memberships.ts';
import type { Queries } from '../../../database/database.ts';
import type { NotificationRow } from '../../../database/tables/notifications.ts';
import type { Tables } from '../../../database/tables.ts';
import type { PageOf, PageRequest } from '../../../lib/page.ts';

const SHOWN = [
  'note.id',
  'note.account_id',
  'account.name as account_name',
  'note.install_id',
  'note.install_name',
  'note.category',
  'note.problem',
  'note.subject',
  'note.facts',
  'note.count',
  'note.first_at',
  'note.last_at',
  'note.read_at',
] as const;

export type StoredNotification = Pick<
  NotificationRow,
  | 'id'
  | 'account_id'
  | 'install_id'
  | 'install_name'
  | 'category'
  | 'problem'
  | 'subject'
  | 'first_at'
  | 'last_at'
  | 'read_at'
> & { account_name: string; facts: unknown; count: number };

/** Filters of an inbox; a notification must match all of them. */
export interface NotificationFilter {
  ids?: readonly string[] | undefined;
  category?: string | undefined;
  account_id?: string | undefined;
  isRead?: boolean | undefined;
}

type Notes = Tables & { note: Tables['notifications'] };

/** The notifications of a scope's user about what the scope shows now. */
function visible(eb: ExpressionBuilder<Notes, 'note'>, scope: Scope) {
  const accounts = (of: Scope['whole']) => of.map((membership) => membership.account_id);
  const [whole, partial] = [accounts(scope.whole), accounts(scope.partial)];
  const shown = [];
  if (whole.length > 0) shown.push(eb('note.account_id', 'in', whole));
  if (partial.length > 0) {
    const granted = eb
      .selectFrom('install_grants as given')
      .select('given.install_id')
      .where('given.user_id', '=', scope.userId)
      .where('given.account_id', 'in', partial);
    shown.push(eb.and([eb('note.account_id', 'in', partial), eb('note.install_id', 'in', granted)]));
    // Of many installs, without their names. Only people who see the account get those about the account.
    const ofInstalls = eb('note.category', 'not in', ['usage', 'webhooks']);
    shown.push(eb.and([eb('note.account_id', 'in', partial), eb('note.subject', '=', ''), ofInstalls]));
  }
  const own = eb.and([eb('note.user_id', '=', scope.userId), eb.or(shown)]);
  if (scope.installIds === null) return own;
  return scope.installIds.length === 0
    ? eb.lit(false)
    : eb.and([own, eb('note.install_id', 'in', scope.installIds)]);
}

function matching(
  eb: ExpressionBuilder<Notes, 'note'>,
  { ids, category, account_id, isRead }: NotificationFilter,
) {
  return eb.and([
    ...(ids === undefined ? [] : [eb('note.id', 'in', ids)]),
    ...(category === undefined ? [] : [eb('note.category', '=', category)]),
    ...(account_id === undefined ? [] : [eb('note.account_id', '=', account_id)]),
    ...(isRead === undefined ? [] : [eb('note.read_at', isRead ? 'is not' : 'is', null)]),
  ]);
}

/** One page of an inbox, latest first. */
export async function pageOfNotifications(
  queries: Queries,
  scope: Scope,
  filter: NotificationFilter,
  { limit, offset }: PageRequest,
): Promise<PageOf<StoredNotification>> {
  const of = queries
    .selectFrom('notifications as note')
    .where((eb) => visible(eb, scope))
    .where((eb) => matching(eb, filter));
  const { count } = await of.select((eb) => eb.fn.countAll<number>().as('count')).executeTakeFirstOrThrow();
  const results =
    limit === 0
      ? []
      : await of
          .innerJoin('accounts as account', 'account.id', 'note.account_id')
          .select([...SHOWN])
          .orderBy('note.last_at', 'desc')
          .orderBy('note.seq', 'desc')
          .limit(limit)
          .offset(offset)
          .execute();
  return { count: Number(count), results };
}

/** Marks notifications of an inbox as read or unread. Emails about those that are read are not sent. Returns their number. */
export async function markNotifications(
  queries: Queries,
  scope: Scope,
  filter: NotificationFilter,
  readAt: string | null,
): Promise<number> {
  const chosen = queries
    .selectFrom('notifications as note')
    .select('note.seq')
    .where((eb) => visible(eb, scope))
    .where((eb) => matching(eb, filter));
  const { numUpdatedRows } = await queries
    .updateTable('notifications')
    .set({ read_at: readAt, mail_due_at: null })
    .where('seq', 'in', chosen)
    .executeTakeFirstOrThrow();
  return Number(numUpdatedRows);
}
