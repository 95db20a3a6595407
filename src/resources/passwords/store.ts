import type { Queries } from '../../database/database.ts';

/** Deletes the links that can be used no more. `now`: as times are stored. */
export async function deleteExpiredPasswordLinks(queries: Queries, now: string): Promise<void> {
  await queries.deleteFrom('password_links').where('expires_at', '<=', now).execute();
}
