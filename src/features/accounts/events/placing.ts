import type { Logger } from 'pino';
import type { Database } from '../../../database/database.ts';
import { repeatEvery } from '../../../lib/concurrency.ts';
import type { EventPlacement } from './placement.ts';

/** Interval of looking for events whose notification was lost. */
const TICK_MS = 1_000;
/** Notifications within this time are one. */
const GATHER_MS = 10;
/** Least time between two looks, because each look costs as much for many events as for one. */
const PACE_MS = 30;

/** Gives events their positions soon after they are committed, and so queues their deliveries and notifications. */
export function startPlacing(
  { database, log }: { database: Database; log: Logger },
  placement: EventPlacement,
): { stop(): Promise<void> } {
  let placedAt = 0;
  let failing = false;
  let stopped = false;
  let waiting: NodeJS.Timeout | undefined;

  function failed(error: unknown): void {
    if (!failing && !stopped)
      log.error({ err: error }, 'could not place events; trying again until it works');
    failing = true;
  }

  async function place(): Promise<void> {
    if (stopped) return;
    placedAt = performance.now();
    await placement.place();
    failing = false;
  }

  const soon = () => {
    if (stopped) return;
    // A transaction has several changes.
    const delayMs = Math.max(GATHER_MS, placedAt + PACE_MS - performance.now());
    waiting ??= setTimeout(() => {
      waiting = undefined;
      place().catch(failed);
    }, delayMs).unref();
  };
  const unsubscribe = database.changes.subscribe({ changed: soon, resync: soon });
  const ticking = repeatEvery(place, { delayMs: TICK_MS, onError: failed, immediately: true });
  return {
    async stop() {
      stopped = true;
      unsubscribe();
      clearTimeout(waiting);
      await ticking.stop();
    },
  };
}
