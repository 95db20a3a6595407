/** What the server's stream of changes tells. */
export interface StreamListener {
  /** The connection is there, */
  opened(): void;
  /** or is not, and is tried again. */
  broken(): void;
  /** One change, as it was sent. */
  change(text: string): void;
  /** Some may have been missed. */
  resync(): void;
  /** The server would not have it: the session may have ended. */
  refused(): void;
}

const AGAIN_MS = 5_000;

/** An EventSource, as far as it is used. */
export interface Stream {
  readonly readyState: number;
  addEventListener(type: string, listener: (event: MessageEvent) => void): void;
  close(): void;
}

/** `EventSource.CLOSED`. */
const CLOSED = 2;

/**
 * Follows the server's changes until the returned function is called. A browser takes up a broken connection again by itself, but
 * not one that was refused. The server begins each with `resync`, so nothing is missed.
 */
export function followStream(
  address: string,
  listener: StreamListener,
  connect: (address: string) => Stream = (at) => new EventSource(at),
): () => void {
  let stream: Stream;
  let again: ReturnType<typeof setTimeout> | undefined;

  function open(): void {
    const opened = connect(address);
    stream = opened;
    opened.addEventListener('open', () => listener.opened());
    opened.addEventListener('change', (event) => listener.change(event.data));
    opened.addEventListener('resync', () => listener.resync());
    opened.addEventListener('error', () => {
      listener.broken();
      if (opened.readyState !== CLOSED) return;
      again = setTimeout(open, AGAIN_MS);
      listener.refused();
    });
  }

  open();
  return () => {
    clearTimeout(again);
    stream.close();
  };
}
