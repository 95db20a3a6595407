import type { Queries } from '../../database/database.ts';

/**
 * Gives names that no install serves any more to the install that has had each as a duplicate for longest. Returns
 * those installs, which now have to be applied.
 */
export async function releaseNames(queries: Queries, names: string[]): Promise<string[]> {
  const heirs = new Set<string>();
  for (const name of names) {
    const heir = await nextToServe(queries, name);
    if (heir !== undefined) heirs.add(heir);
  }
  return [...heirs];
}

async function nextToServe(queries: Queries, name: string): Promise<string | undefined> {
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
