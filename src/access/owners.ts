import type { ExpressionBuilder } from 'kysely';
import type { Queries } from '../database/database.ts';
import type { Tables } from '../database/tables.ts';
import type { NotificationCategory } from '../lib/notification-categories.ts';

/**
 * The owners of an account who accepted their invitation, for mails. With `category`, without those who chose no emails or daily emails for
 * its notifications.
 */
export function findOwners(
  queries: Queries,
  accountId: string,
  category?: NotificationCategory,
): Promise<{ user_id: string; email: string; first_name: string }[]> {
  return queries
    .selectFrom('memberships as member')
    .innerJoin('users as person', 'person.id', 'member.user_id')
    .select(['member.user_id', 'person.email', 'person.first_name'])
    .where('member.account_id', '=', accountId)
    .where('member.role', '=', 'owner')
    .where('member.invite_accepted', '=', true)
    .where((eb) => (category === undefined ? eb.lit(true) : wantsMail(eb, category)))
    .orderBy('member.seq')
    .execute();
}

/** A condition for `memberships as member`: the user gets emails of a category immediately, unless another default applies. */
export function wantsMail(
  eb: ExpressionBuilder<Tables & { member: Tables['memberships'] }, 'member'>,
  category: NotificationCategory,
) {
  const others = eb
    .selectFrom('notification_preferences as preference')
    .select('preference.user_id')
    .whereRef('preference.user_id', '=', 'member.user_id')
    .where('preference.category', '=', category)
    .where('preference.email', '<>', 'immediately');
  return eb.not(eb.exists(others));
}
