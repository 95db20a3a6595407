import type { Database, Transaction } from '../database/database.ts';
import { type Clock, timestamp } from '../lib/clock.ts';

/** A worker seen within the last seconds. */
export interface LiveWorker {
  id: string;
  /** Host name and process id. */
  process: string;
  /** ISO 8601. */
  seenAt: string;
}

/** A killed worker counts as live for this long. */
export const LIVE_WITHIN_MS = 10_000;

/** The workers of all processes seen within the last 10 s, or another time, longest-running first. */
export async function liveWorkers(
  database: Database,
  clock: Clock,
  withinMs = LIVE_WITHIN_MS,
): Promise<LiveWorker[]> {
  return database.reader
    .selectFrom('workers')
    .select(['id', 'process', 'seen_at as seenAt'])
    .where('seen_at', '>', timestamp(clock, -withinMs))
    .orderBy('seen_at')
    .orderBy('id')
    .execute();
}

export async function showWorker(transaction: Transaction, worker: LiveWorker): Promise<void> {
  const { id, process, seenAt } = worker;
  await transaction.queries
    .insertInto('workers')
    .values({ id, process, seen_at: seenAt })
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ seen_at: seenAt }))
    .execute();
}

/** Notes that a worker stops in order, before its jobs end. */
export async function noteStopping(database: Database, id: string): Promise<void> {
  await database.write((transaction) =>
    transaction.queries.updateTable('workers').set({ stopping: true }).where('id', '=', id).execute(),
  );
}

export async function forgetWorker(database: Database, id: string): Promise<void> {
  await database.write((transaction) =>
    transaction.queries.deleteFrom('workers').where('id', '=', id).execute(),
  );
}
