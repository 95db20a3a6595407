import type { Selectable } from 'kysely';
import type { Queries } from '../../database/database.ts';
import type { Tables } from '../../database/tables.ts';

export type WebsitesFolder = Omit<Selectable<Tables['websites_folder']>, 'one'>;

export async function findWebsitesFolder(queries: Queries): Promise<WebsitesFolder | undefined> {
  return queries
    .selectFrom('websites_folder')
    .select(['id', 'machine', 'path', 'claimed_at'])
    .executeTakeFirst();
}

/** Inserts the folder unless a row exists. */
export async function insertWebsitesFolder(queries: Queries, folder: WebsitesFolder): Promise<void> {
  await queries
    .insertInto('websites_folder')
    .values({ one: 1, ...folder })
    .onConflict((conflict) => conflict.column('one').doNothing())
    .execute();
}

export async function updateWebsitesFolder(queries: Queries, folder: WebsitesFolder): Promise<void> {
  await queries.updateTable('websites_folder').set(folder).where('one', '=', 1).execute();
}
