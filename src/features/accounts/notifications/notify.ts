import type { Transaction } from '../../../database/database.ts';
import { type Clock, timestamp } from '../../../lib/clock.ts';
import { HOUR_MS, MINUTE_MS } from '../../../lib/durations.ts';
import type { PlacedEvent } from '../events/store.ts';
import { installNames, operationFacts } from './facts-store.ts';
import { isNotified, noticeOf } from './notices.ts';
import { insertNotifications } from './placing-store.ts';
import { resolveByEvents } from './resolving-store.ts';

/** Delay of emails, so that one has what happens together. */
const GATHER_MS = MINUTE_MS;
/** The hour of the daily email, in UTC. */
const DIGEST_HOUR = 7;
/** A problem that lasts is emailed again after this time. Shorter than a day, so that each failed daily backup is. */
const AGAIN_MS = 12 * HOUR_MS;

/** The time of the next daily email. */
export function nextDigest(now: Date): string {
  const digest = new Date(now);
  digest.setUTCHours(DIGEST_HOUR, 0, 0, 0);
  if (digest <= now) digest.setUTCDate(digest.getUTCDate() + 1);
  return digest.toISOString();
}

/** The function that notifies people of events, and ends notifications of solved problems, in the transaction that places the events. */
export function notifier({ clock }: { clock: Clock }) {
  return async (transaction: Transaction, events: readonly PlacedEvent[]): Promise<void> => {
    await notify(transaction, events);
    await resolveByEvents(transaction.queries, timestamp(clock), events);
  };

  async function notify(transaction: Transaction, events: readonly PlacedEvent[]): Promise<void> {
    const notified = events.filter(isNotified);
    if (notified.length === 0) return;
    const { queries } = transaction;
    const operationIds = notified.flatMap(({ type, subject_id }) =>
      type.startsWith('operation.') && subject_id !== null ? [subject_id] : [],
    );
    const operations = await operationFacts(queries, operationIds);
    const installs = await installNames(queries, [
      ...new Set(notified.flatMap(({ install_id }) => install_id ?? [])),
    ]);
    const byId = new Map(operations.map((operation) => [operation.id, operation]));
    const notices = notified.flatMap((event) => noticeOf(event, byId, installs) ?? []);
    if (notices.length === 0) return;
    await insertNotifications(transaction, notices, {
      soon: timestamp(clock, GATHER_MS),
      nextDigest: nextDigest(clock.now()),
      again: timestamp(clock, -AGAIN_MS),
    });
  }
}
