import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Database, Transaction } from '../../../database/database.ts';
import { coalesce } from '../../../lib/concurrency.ts';
import { lastUnplaced, lockEventLog, type PlacedEvent, placeEvents } from './store.ts';

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
  notified: ReadonlySet<string>,
): EventPlacement {
  /** Returns whether events up to `upTo` may wait. Later ones are not awaited, because they never end on a busy platform. */
  async function placeSome(transaction: Transaction, upTo: number): Promise<boolean> {
    const last = await lockEventLog(transaction);
    const events = await placeEvents(transaction.queries, last, notified);
    const end = events.at(-1);
    if (end === undefined) return false;
    await handOn(transaction, events);
    return end.seq < upTo;
  }

  async function placeAll(): Promise<void> {
    const upTo = await lastUnplaced(database.reader);
    if (upTo === undefined) return;
    // Requests and other writers come between two parts.
    while (await database.write((transaction) => placeSome(transaction, upTo))) await nextTurn();
  }

  return {
    place: coalesce(placeAll),
    async placeWithin(transaction) {
      await lockEventLog(transaction);
      const upTo = await lastUnplaced(transaction.queries);
      if (upTo !== undefined) while (await placeSome(transaction, upTo));
    },
  };
}
