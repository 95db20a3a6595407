import { hear, relaying } from './relay.ts';
import type { StreamListener } from './stream.ts';

/** What the pages of one browser know of each other by. */
export interface Browser {
  /** Undefined where the browser has none: outside of secure contexts. */
  locks: Pick<LockManager, 'request'> | undefined;
  openChannel(name: string): BroadcastChannel;
}

const thisBrowser = (): Browser => {
  const { locks }: { locks?: LockManager } = navigator;
  return { locks, openChannel: (name) => new BroadcastChannel(name) };
};

/**
 * Follows one stream together with all pages of this browser that do so under the same name, until the returned function is called: a
 * browser has few connections for each host, and its windows would use them up. Whoever holds the lock of that name follows, and
 * tells the others. When that page goes, in whatever way, the lock passes on, and the next stream begins with `resync`.
 */
export function shareStream(
  name: string,
  follow: (listener: StreamListener) => () => void,
  listener: StreamListener,
  { locks, openChannel }: Browser = thisBrowser(),
): () => void {
  if (!locks) return follow(listener);
  const channel = openChannel(name);
  channel.onmessage = ({ data }) => hear(data, listener);
  const leaving = new AbortController();
  const left = leaving.signal;

  function followUntilLeft(to: StreamListener): Promise<void> {
    if (left.aborted) return Promise.resolve();
    const stop = follow(to);
    return new Promise((resolve) => {
      left.addEventListener('abort', () => {
        stop();
        resolve();
      });
    });
  }
  const followForAll = () => followUntilLeft(relaying(listener, (said) => channel.postMessage(said)));

  async function takePart(held: Pick<LockManager, 'request'>): Promise<void> {
    const isFree = await held.request(name, { ifAvailable: true }, async (lock) => {
      if (lock) await followForAll();
      return lock !== null;
    });
    if (isFree || left.aborted) return;
    // What was told before this page listened, it has missed.
    listener.resync();
    await held.request(name, { signal: left }, followForAll);
  }

  takePart(locks).catch(() => {
    // Left while it waited; or this browser gives no locks to this page, which then follows alone.
    void followUntilLeft(listener);
  });
  return () => {
    leaving.abort();
    channel.close();
  };
}
