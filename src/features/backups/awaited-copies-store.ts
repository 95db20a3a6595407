import type { Queries } from '../../database/database.ts';

/** Marks a new install that was created for a copy. */
export async function awaitCopy(queries: Queries, installId: string): Promise<void> {
  await queries.updateTable('installs').set({ awaits_copy: true }).where('id', '=', installId).execute();
}

/** Records that a copy, a restore or an import has given an install its content. */
export async function receiveCopy(queries: Queries, installId: string): Promise<void> {
  await queries
    .updateTable('installs')
    .set({ awaits_copy: false })
    .where('id', '=', installId)
    .where('awaits_copy', '=', true)
    .execute();
}

/** Whether an install still has the content that it was created with, instead of the copy that it was created for. */
export async function isCopyAwaited(queries: Queries, installId: string): Promise<boolean> {
  const found = await queries
    .selectFrom('installs')
    .select('awaits_copy')
    .where('id', '=', installId)
    .executeTakeFirst();
  return found?.awaits_copy === true;
}
