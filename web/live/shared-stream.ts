import { receive, relayTo } from './relay.ts';
import type { StreamListener } from './stream.ts';

/** The browser features by which the pages of one browser coordinate. */
export interface Browser {
  /** Undefined outside of secure contexts. */
  locks: Pick<LockManager, 'request'> | undefined;
  openChannel(name: string): BroadcastChannel;
}

const thisBrowser = (): Browser => {
  const { locks }: { locks?: LockManager } = navigator;
  return { locks, openChannel: (name) => new BroadcastChannel(name) };
};

/**
 * Shares one stream among all pages of this browser that use the same name, until the returned function is called.
 * Browsers limit the connections to a host, and one stream in each window would use them up. The page that holds the
 * lock of that name follows the stream and relays its events. When that page closes or crashes, another page gets the
 * lock, and its stream begins with `resync`.
 */
export function shareStream(
  name: string,
  follow: (listener: StreamListener) => () => void,
  listener: StreamListener,
  { locks, openChannel }: Browser = thisBrowser(),
): () => void {
  if (!locks) return follow(listener);
  const channel = openChannel(name);
  channel.onmessage = ({ data }) => receive(data, listener);
  const stopping = new AbortController();
  const stopped = stopping.signal;

  function followUntilStopped(to: StreamListener): Promise<void> {
    if (stopped.aborted) return Promise.resolve();
    const stop = follow(to);
    return new Promise((resolve) => {
      stopped.addEventListener('abort', () => {
        stop();
        resolve();
      });
    });
  }
  const followForAll = () => followUntilStopped(relayTo(listener, (message) => channel.postMessage(message)));

  async function join(held: Pick<LockManager, 'request'>): Promise<void> {
    const isFree = await held.request(name, { ifAvailable: true }, async (lock) => {
      if (lock) await followForAll();
      return lock !== null;
    });
    if (isFree || stopped.aborted) return;
    // This page has missed all earlier events.
    listener.resync();
    await held.request(name, { signal: stopped }, followForAll);
  }

  join(locks).catch(() => {
    // The page stopped while it waited, or the browser refuses locks to it. Then it follows the stream alone.
    void followUntilStopped(listener);
  });
  return () => {
    stopping.abort();
    channel.close();
  };
}
