import { useSyncExternalStore } from 'react';
import type { Stream } from './stream.ts';

/** A stream that breaks is mostly there again in a moment, of which nobody need hear. */
const PATIENCE_MS = 5_000;

/** What a stream tells of itself. */
type Sign = 'open' | 'error';

/** Knows whether changes still come, from the signs of the stream that they come by. */
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
    take(sign: Sign): void {
      if (sign === 'error') {
        losing ??= setTimeout(() => change(false), PATIENCE_MS);
        return;
      }
      clearTimeout(losing);
      losing = undefined;
      if (!isConnected) change(true);
    },
  };
}

const connection = createConnection();
let windows: BroadcastChannel | undefined;

/** The stream is one for all windows of the browser (shared-stream.ts), and so are its signs. */
function otherWindows(): BroadcastChannel {
  if (windows) return windows;
  windows = new BroadcastChannel('homeport-connection');
  windows.onmessage = ({ data }) => {
    if (data === 'open' || data === 'error') connection.take(data);
  };
  // What the browser itself knows of its line; the stream's next sign tells the rest.
  window.addEventListener('offline', () => connection.take('error'));
  window.addEventListener('online', () => connection.take('open'));
  return windows;
}

/** A stream of the server's changes whose state is known to {@link useIsConnected}, in every window. */
export function watchedStream(address: string): Stream {
  const stream = new EventSource(address);
  for (const sign of ['open', 'error'] as const) {
    stream.addEventListener(sign, () => {
      connection.take(sign);
      otherWindows().postMessage(sign);
    });
  }
  return stream;
}

/** Whether what is shown follows what others change; false once the stream has been away for some seconds. */
export function useIsConnected(): boolean {
  return useSyncExternalStore(subscribe, connection.isConnected);
}

function subscribe(listener: () => void): () => void {
  otherWindows();
  return connection.subscribe(listener);
}
