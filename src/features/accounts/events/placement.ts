import type { Database, Transaction } from '../../../database/database.ts';
import { coalesce } from '../../../lib/concurrency.ts';
import { hasUnplacedEvents, lockEventLog, PLACED_AT_ONCE, type PlacedEvent, placeEvents } from './store.ts';

/** Gives committed events their positions, and queues deliveries and notifications in the same transaction. */
export interface EventPlacement {
  /** Resolves once every event committed before the call has a position. */
  place(): Promise<void>;
  /** The same within a transaction, which sees every event committed before, and its own. Holds the lock of the log until it ends. */
  placeWithin(transaction: Transaction): Promise<void>;
}

/**
 * Numbers given inside concurrent transactions do not have the order of their commits, so a reader could skip an event that commits
 * late. Positions are given after the commit, by one transaction at a time (docs/decisions/events.md).
 */
export function createEventPlacement(
  database: Database,
  handOn: (transaction: Transaction, events: readonly PlacedEvent[]) => Promise<void>,
): EventPlacement {
  /** Returns whether more events may wait. */
  async function placeSome(transaction: Transaction): Promise<boolean> {
    const last = await lockEventLog(transaction);
    const events = await placeEvents(transaction.queries, last);
    if (events.length > 0) await handOn(transaction, events);
    return events.length === PLACED_AT_ONCE;
  }

  async function placeAll(): Promise<void> {
    if (!(await hasUnplacedEvents(database.reader))) return;
    while (await database.write(placeSome));
  }

  return {
    place: coalesce(placeAll),
    async placeWithin(transaction) {
      while (await placeSome(transaction));
    },
  };
}
