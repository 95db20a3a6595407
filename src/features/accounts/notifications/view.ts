import { Value } from 'typebox/value';
import { eventFactsSchema } from '../events/schema.ts';
import type { StoredNotification } from './inbox-store.ts';
import type { NotificationView } from './schema.ts';
import { wordsOf } from './words.ts';

/** A notification as its user sees it. */
export function notificationView(stored: StoredNotification): NotificationView {
  const { problem: _, subject: _subject, facts, read_at, count, ...shown } = stored;
  const known = Value.Check(eventFactsSchema, facts) ? facts : {};
  const { operation_id } = known;
  const isOpen = read_at === null && stored.subject !== '';
  return {
    ...shown,
    ...wordsOf({ ...stored, facts: known }),
    retry_operation_id: isOpen && typeof operation_id === 'string' ? operation_id : null,
    count: Number(count),
    read: read_at !== null,
  };
}
