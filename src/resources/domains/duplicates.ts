import type { Queries } from '../../database/database.ts';

/**
 * Gives names that no install serves any more to the install that has had each as a duplicate for longest. Returns
 * those installs, which now have to be applied.
 */
export async function releaseNames(queries: Queries, names: string[]): Promise<string[]> {
  const heirs = new Set<string>();
  for (const name of names) {
    const heir = await queries
      .selectFrom('domains')
      .select(['id', 'install_id'])
      .where('name', '=', name)
      .orderBy('seq')
      .limit(1)
      .executeTakeFirst();
    if (!heir) continue;
    await queries.updateTable('domains').set({ is_duplicate: false }).where('id', '=', heir.id).execute();
    heirs.add(heir.install_id);
  }
  return [...heirs];
}
