import type { Queries } from '../../../database/database.ts';
import type { EmailChoice } from '../../../lib/notification-categories.ts';

/** The choices of a user that differ from the defaults. */
export function preferencesOf(queries: Queries, userId: string) {
  return queries
    .selectFrom('notification_preferences')
    .select(['category', 'email'])
    .where('user_id', '=', userId)
    .execute();
}

/** Stores a choice of a user. */
export async function setPreference(
  queries: Queries,
  key: { user_id: string; category: string },
  email: EmailChoice,
  now: string,
): Promise<void> {
  if (email === 'default') {
    await queries
      .deleteFrom('notification_preferences')
      .where('user_id', '=', key.user_id)
      .where('category', '=', key.category)
      .execute();
    return;
  }
  await queries
    .insertInto('notification_preferences')
    .values({ ...key, email, updated_at: now })
    .onConflict((conflict) =>
      conflict.columns(['user_id', 'category']).doUpdateSet({ email, updated_at: now }),
    )
    .execute();
}
