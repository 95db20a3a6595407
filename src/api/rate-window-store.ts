import type { Queries } from '../database/database.ts';

/** Requests that all processes have reserved in the key's window, if it begins at `start` or later. */
export async function findTaken(queries: Queries, key: string, start: string): Promise<number> {
  const row = await queries
    .selectFrom('rate_windows')
    .select('taken')
    .where('key', '=', key)
    .where('window_start', '>=', start)
    .executeTakeFirst();
  return row?.taken ?? 0;
}

/** Reserves a share of a key's window. Returns the total that all processes have reserved. */
export async function takeOfWindow(
  queries: Queries,
  { key, start, share }: { key: string; start: string; share: number },
): Promise<number> {
  const row = await queries
    .insertInto('rate_windows')
    .values({ key, window_start: start, taken: share })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => {
        // A process whose clock is behind reserves from the later window. It must not restart the earlier one.
        const begins = eb('rate_windows.window_start', '<', start);
        return {
          window_start: eb.case().when(begins).then(start).else(eb.ref('rate_windows.window_start')).end(),
          taken: eb
            .case()
            .when(begins)
            .then(share)
            .else(eb('rate_windows.taken', '+', share))
            .end(),
        };
      }),
    )
    .returning('taken')
    .executeTakeFirstOrThrow();
  return row.taken;
}

/** Deletes the windows that began before a time. */
export async function deleteRateWindowsBefore(queries: Queries, before: string): Promise<void> {
  await queries.deleteFrom('rate_windows').where('window_start', '<', before).execute();
}
