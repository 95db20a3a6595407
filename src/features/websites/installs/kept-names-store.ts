import type { Queries } from '../../../database/database.ts';

/** Whether a deleted install of another account keeps this name until its backups are deleted. */
export async function isKeptByOthers(queries: Queries, name: string, accountId: string): Promise<boolean> {
  const row = await queries
    .selectFrom('deleted_installs')
    .select('id')
    .where('name', '=', name)
    .where('account_id', '!=', accountId)
    .executeTakeFirst();
  return row !== undefined;
}
