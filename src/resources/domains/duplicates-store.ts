import type { Queries } from '../../database/database.ts';

/**
 * Gives a name that no install serves to the one that has had it as a duplicate for longest. Returns that install; undefined if
 * nobody has the name.
 */
export async function passOnName(queries: Queries, name: string): Promise<string | undefined> {
  for (;;) {
    const oldest = await queries
      .selectFrom('domains')
      .select('id')
      .where('name', '=', name)
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst();
    if (!oldest) return undefined;
    const heir = await queries
      .updateTable('domains')
      .set({ is_duplicate: false })
      .where('id', '=', oldest.id)
      .returning('install_id')
      .executeTakeFirst();
    // Without a row another transaction has just deleted it: the one after it is next.
    if (heir) return heir.install_id;
  }
}
