import type { Database } from '../../../database/database.ts';
import { coalesce } from '../../../lib/concurrency.ts';
import { endedOperations } from './store.ts';

/** Requests that a process holds at once. Others are answered immediately. */
const MOST_HELD = 20_000;
/** Operations that one query asks for. */
const BATCH = 500;
/** Delay before the next look after the database failed. */
const RETRY_MS = 1_000;

/** Requests that wait for the end of an operation. */
export interface Waits {
  /** Resolves when the operation has ended, after `ms`, when `gone` aborts, or when the process stops. Never rejects. */
  hold(operationId: string, ms: number, gone: AbortSignal): Promise<void>;
  /** Ends all waits, and later ones at once. */
  close(): void;
}

/**
 * Holds requests with one subscription to the changes of the database and one query for all operations that changed. A
 * held request costs a callback and a timer, which Node keeps in one list for all waits of the same duration.
 */
export function createWaits(
  { reader, changes }: Pick<Database, 'reader' | 'changes'>,
  mostHeld = MOST_HELD,
): Waits {
  const held = new Map<string, Set<() => void>>();
  /** Operations that may have ended. */
  const suspects = new Set<string>();
  let count = 0;
  let closed = false;
  let unsubscribe: (() => void) | undefined;

  const look = coalesce(async () => {
    while (suspects.size > 0) {
      const ids = [...suspects].filter((id) => held.has(id)).slice(0, BATCH);
      if (ids.length === 0) return suspects.clear();
      for (const id of ids) suspects.delete(id);
      try {
        for (const id of await endedOperations(reader, ids)) release(id);
      } catch {
        // The database is unavailable, which every other request reports.
        for (const id of ids) suspects.add(id);
        setTimeout(() => void look(), RETRY_MS).unref();
        return;
      }
    }
  });

  function suspect(ids: Iterable<string>): void {
    for (const id of ids) if (held.has(id)) suspects.add(id);
    if (suspects.size > 0) void look();
  }

  function release(id: string): void {
    for (const end of [...(held.get(id) ?? [])]) end();
  }

  /** Stays subscribed from the first wait on: opening the feed anew for each would cost more than following it. */
  function follow(): void {
    unsubscribe ??= changes.subscribe({
      changed({ topic, id }) {
        if (topic === 'operation' && id !== null) suspect([id]);
      },
      resync: () => suspect(held.keys()),
    });
  }

  return {
    hold(id, ms, gone) {
      if (closed || gone.aborted || count >= mostHeld) return Promise.resolve();
      follow();
      return new Promise((resolve) => {
        const waiting = held.get(id) ?? new Set();
        const end = () => {
          if (!waiting.delete(end)) return;
          count -= 1;
          if (waiting.size === 0) held.delete(id);
          clearTimeout(timer);
          gone.removeEventListener('abort', end);
          resolve();
        };
        const timer = setTimeout(end, ms);
        gone.addEventListener('abort', end);
        held.set(id, waiting.add(end));
        count += 1;
        // It may have ended since the caller read it.
        suspect([id]);
      });
    },
    close() {
      closed = true;
      unsubscribe?.();
      for (const id of [...held.keys()]) release(id);
    },
  };
}
