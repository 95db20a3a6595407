import { useSyncExternalStore } from 'react';

/** A broken stream usually recovers within this time, so users need not know. */
const PATIENCE_MS = 5_000;

/** Tracks whether live changes still arrive, by the events of their stream. */
export function createConnection() {
  let isConnected = true;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listeners = new Set<() => void>();

  function change(to: boolean): void {
    isConnected = to;
    for (const listener of listeners) listener();
  }

  return {
    isConnected: () => isConnected,
    subscribe(listener: () => void): () => void {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    opened(): void {
      clearTimeout(timer);
      timer = undefined;
      if (!isConnected) change(true);
    },
    /** Called again for each failed attempt to reconnect. */
    broken(): void {
      timer ??= setTimeout(() => change(false), PATIENCE_MS);
    },
  };
}

/** The connection of this page. */
export const connection = createConnection();

/** Returns whether live changes arrive; false once the stream has been broken for some seconds. */
export function useIsConnected(): boolean {
  return useSyncExternalStore(subscribe, connection.isConnected);
}

function subscribe(listener: () => void): () => void {
  const leave = connection.subscribe(listener);
  // The browser's own view of the network, until the next event of the stream.
  const leaving = new AbortController();
  const { signal } = leaving;
  window.addEventListener('offline', () => connection.broken(), { signal });
  window.addEventListener('online', () => connection.opened(), { signal });
  return () => {
    leaving.abort();
    leave();
  };
}
