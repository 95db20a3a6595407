import type { Queries } from '../../database/database.ts';
import type { HeldInstall } from '../../hosting/contract/inventory.ts';

/** Stores what these installs of a host have lost. Changes only installs whose state differs. */
export async function storeLostData(queries: Queries, held: readonly HeldInstall[]): Promise<void> {
  const lost = new Map(
    held.flatMap(({ id, lost: reasons = [] }) => (reasons.length > 0 ? [[id, reasons.join(' ')]] : [])),
  );
  const former = await queries
    .selectFrom('installs')
    .select(['id', 'lost_data'])
    .where('lost_data', 'is not', null)
    .execute();
  const known = new Map(former.map(({ id, lost_data }) => [id, lost_data]));
  for (const { id } of held) {
    const now = lost.get(id) ?? null;
    if (now === (known.get(id) ?? null)) continue;
    await queries.updateTable('installs').set({ lost_data: now }).where('id', '=', id).execute();
  }
}
