import type { Queries } from '../../database/database.ts';
import { passOnName } from './duplicates-store.ts';

/**
 * Gives names that no install serves any more to the install that has had each as a duplicate for longest. Returns
 * those installs, which now have to be applied.
 */
export async function releaseNames(queries: Queries, names: string[]): Promise<string[]> {
  const heirs = new Set<string>();
  for (const name of names) {
    const heir = await passOnName(queries, name);
    if (heir !== undefined) heirs.add(heir);
  }
  return [...heirs];
}
