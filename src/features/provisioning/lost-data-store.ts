import type { Database } from '../../database/database.ts';
import type { HeldInstall } from '../../hosting/contract/inventory.ts';

export const NOT_THERE = 'The machine does not have this website.';

/** Few, because SQLite answers no one during a statement. A machine can lose thousands of websites at once. */
const CHANGED_AT_ONCE = 100;

/**
 * Stores what these active installs of a host have lost: those that it holds, and those that it has nothing of. Changes only installs whose
 * state differs. Returns the ids of installs that are newly `absent`.
 */
export async function storeLostData(
  { reader, write }: Pick<Database, 'reader' | 'write'>,
  held: readonly HeldInstall[],
  absent: readonly string[],
): Promise<string[]> {
  const lost = new Map(
    held.flatMap(({ id, lost: reasons = [] }) => (reasons.length > 0 ? [[id, reasons.join(' ')]] : [])),
  );
  for (const id of absent) lost.set(id, NOT_THERE);
  const former = await reader
    .selectFrom('installs')
    .select(['id', 'lost_data'])
    .where('lost_data', 'is not', null)
    .execute();
  const known = new Map(former.map(({ id, lost_data }) => [id, lost_data]));
  const changed = [...held.map(({ id }) => id), ...absent].filter(
    (id) => (lost.get(id) ?? null) !== (known.get(id) ?? null),
  );
  for (const [lost_data, ids] of Map.groupBy(changed, (id) => lost.get(id) ?? null)) {
    for (let at = 0; at < ids.length; at += CHANGED_AT_ONCE) {
      const some = ids.slice(at, at + CHANGED_AT_ONCE);
      await write(({ queries }) =>
        queries.updateTable('installs').set({ lost_data }).where('id', 'in', some).execute(),
      );
    }
  }
  const missing = new Set(absent);
  return changed.filter((id) => missing.has(id));
}
