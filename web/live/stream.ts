/** What a stream of events tells. */
export interface StreamListener {
  /** One change, as it was sent. */
  change(text: string): void;
  /** Some may have been missed. */
  resync(): void;
  /** The server would not have it: the session may have ended. Tried again all the same. */
  refused(): void;
}

const AGAIN_MS = 5_000;

/**
 * Follows the server's events until the returned function is called. A browser takes up a broken connection again by itself, but not
 * one that was refused. A page that nobody looks at holds no connection, of which browsers have few for each host; the
 * server begins each with `resync`, so nothing is missed.
 */
export function followStream(address: URL, listener: StreamListener): () => void {
  let stream: EventSource | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;

  function open(): void {
    clearTimeout(again);
    stream?.close();
    const opened = new EventSource(address);
    stream = opened;
    opened.addEventListener('change', (event) => listener.change(event.data));
    opened.addEventListener('resync', () => listener.resync());
    opened.addEventListener('error', () => {
      if (opened.readyState !== EventSource.CLOSED) return;
      listener.refused();
      again = setTimeout(open, AGAIN_MS);
    });
  }

  function close(): void {
    clearTimeout(again);
    stream?.close();
    stream = undefined;
  }

  const look = () => {
    if (document.hidden) close();
    else if (!stream) open();
  };
  document.addEventListener('visibilitychange', look);
  look();
  return () => {
    document.removeEventListener('visibilitychange', look);
    close();
  };
}
