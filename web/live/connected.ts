import { useSyncExternalStore } from 'react';

/** A stream that breaks is mostly there again in a moment, of which nobody need hear. */
const PATIENCE_MS = 5_000;

/** Knows whether changes still come, from what the stream that they come by tells of itself. */
export function createConnection() {
  let isConnected = true;
  let losing: ReturnType<typeof setTimeout> | undefined;
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
      clearTimeout(losing);
      losing = undefined;
      if (!isConnected) change(true);
    },
    /** Told again at each attempt that fails. */
    broken(): void {
      losing ??= setTimeout(() => change(false), PATIENCE_MS);
    },
  };
}

/** That of this page. */
export const connection = createConnection();

/** Whether what is shown follows what others change; false once the stream has been away for some seconds. */
export function useIsConnected(): boolean {
  return useSyncExternalStore(subscribe, connection.isConnected);
}

function subscribe(listener: () => void): () => void {
  const leave = connection.subscribe(listener);
  // What the browser itself knows of its line; what the stream tells next goes before it.
  const leaving = new AbortController();
  const { signal } = leaving;
  window.addEventListener('offline', () => connection.broken(), { signal });
  window.addEventListener('online', () => connection.opened(), { signal });
  return () => {
    leaving.abort();
    leave();
  };
}
