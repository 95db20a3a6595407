import type { Queries } from '../../../database/database.ts';

/** The operations that an install may not repeat before `next_at`, which is later than `now`. */
export function heldOperations(queries: Queries, installId: string, now: string) {
  return queries
    .selectFrom('install_limits')
    .select(['operation', 'next_at'])
    .where('install_id', '=', installId)
    .where('next_at', '>', now)
    .execute();
}

/** Blocks an operation until `next_at`. Returns undefined and changes nothing if it is already blocked at `now`. */
export function holdOperation(
  queries: Queries,
  {
    install_id,
    operation,
    next_at,
    now,
  }: { install_id: string; operation: string; next_at: string; now: string },
): Promise<{ next_at: string } | undefined> {
  return queries
    .insertInto('install_limits')
    .values({ install_id, operation, next_at })
    .onConflict((conflict) =>
      conflict
        .columns(['install_id', 'operation'])
        .doUpdateSet({ next_at })
        .where('install_limits.next_at', '<=', now),
    )
    .returning('next_at')
    .executeTakeFirst();
}
