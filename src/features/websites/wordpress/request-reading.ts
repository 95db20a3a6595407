import type { Transaction } from '../../../database/database.ts';
import { SECOND_MS } from '../../../lib/durations.ts';
import type { Platform } from '../../../platform/platform.ts';
import { readingLane, readWordPress } from './jobs.ts';
import { hasActiveWordPress, hasQueuedReading } from './store.ts';

/** Several changes in a row are read once. */
const DELAY_MS = 5 * SECOND_MS;

/**
 * Requests that the WordPress of an install is read soon, after a change. A reading that runs already may have missed the change, so
 * only one that waits suffices. `check`: WordPress also asks for updates. Does nothing for installs without WordPress.
 */
export async function requestReading(
  transaction: Transaction,
  queue: Platform['queue'],
  installId: string,
  { check = false, delayMs = DELAY_MS }: { check?: boolean; delayMs?: number } = {},
): Promise<void> {
  const { queries } = transaction;
  const lane = readingLane(installId);
  if (!(await hasActiveWordPress(queries, installId)) || (await hasQueuedReading(queries, lane))) return;
  await queue.enqueue(transaction, readWordPress, {
    payload: { install_id: installId, check },
    lane,
    install: installId,
    delayMs,
  });
}
