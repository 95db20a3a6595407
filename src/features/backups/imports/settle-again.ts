import { lockRow } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS } from '../../../lib/durations.ts';
import type { Platform } from '../../../platform/platform.ts';
import { settleImport } from '../jobs.ts';
import { unsettledImports } from './unsettled-store.ts';

/** After a day, people may have worked on the imported website, and a checkpoint would undo that. */
const TRIED_MS = DAY_MS;

/** Requests the settlement of unsettled imports again, of installs whose host answers. */
export async function settleImportsAgain(
  { database, queue, clock, log }: Pick<Platform, 'database' | 'queue' | 'clock' | 'log'>,
  installIds: readonly string[],
): Promise<void> {
  const earliest = timestamp(clock, -TRIED_MS);
  const known = new Set(installIds);
  const unsettled = await unsettledImports(database.reader, earliest);
  const ids = new Set(unsettled.map(({ install_id }) => install_id).filter((id) => known.has(id)));
  if (ids.size === 0) return;
  const asked = await database.write(async (transaction) => {
    // Two processes must not put the same checkpoint back twice.
    for (const id of [...ids].sort()) await lockRow(transaction, 'installs', id);
    const wanted = (await unsettledImports(transaction.queries, earliest)).filter(
      ({ install_id, since }) => ids.has(install_id) && since >= earliest,
    );
    for (const { install_id, import_id, checkpoint_id } of wanted) {
      await queue.enqueue(transaction, settleImport, {
        payload: { install_id, import_id, checkpoint_id },
        lane: install_id,
        ahead: true,
      });
    }
    return wanted;
  });
  for (const { install_id, import_id } of asked)
    log.info(
      { install: install_id, import: import_id },
      'asking again whether an import replaced its website',
    );
}
