import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Transaction } from '../../../database/database.ts';
import { timestamp } from '../../../lib/clock.ts';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import type { Platform } from '../../../platform/platform.ts';
import { notifyOfArchive } from '../jobs.ts';
import { type ArchiveOutcome, finishArchive } from './store.ts';

const addresses = Type.Array(Type.String());

/** How long a download of an archive can begin. */
const KEPT_MS = DAY_MS;
/** How long a download that has begun can go on after that. An archive of 20 GB takes 4.5 hours at 10 Mbit/s. */
export const LAST_DOWNLOADS_MS = 6 * HOUR_MS;

/** Creates the function that finishes an archive and enqueues the mails in the same transaction. */
export function createArchiveFinisher({ queue, clock }: Pick<Platform, 'queue' | 'clock'>) {
  return async (transaction: Transaction, archiveId: string, outcome: ArchiveOutcome): Promise<void> => {
    const row = await finishArchive(transaction.queries, archiveId, {
      ...outcome,
      finished_at: timestamp(clock),
      expires_at: timestamp(clock, KEPT_MS),
    });
    if (!row) return;
    for (const address of Value.Parse(addresses, row.notification_emails)) {
      await queue.enqueue(transaction, notifyOfArchive, {
        payload: { archive_id: archiveId, address },
        lane: null,
        install: row.install_id,
      });
    }
  };
}
