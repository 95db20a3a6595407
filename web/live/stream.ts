/** Handles the events of the server's stream of changes. */
export interface StreamListener {
  /** The connection is open. */
  opened(): void;
  /** The connection failed, and will be retried. */
  broken(): void;
  /** A change, as JSON text. */
  change(text: string): void;
  /** Some changes may have been missed. */
  resync(): void;
  /** The server refused the connection. The session may have ended. */
  refused(): void;
}

const RETRY_MS = 5_000;

/** The parts of EventSource that are used here. */
export interface Stream {
  readonly readyState: number;
  addEventListener(type: string, listener: (event: MessageEvent) => void): void;
  close(): void;
}

/** `EventSource.CLOSED`. */
const CLOSED = 2;

/**
 * Follows the server's changes until the returned function is called. Browsers reconnect a broken EventSource, but
 * not a refused one, so this does. The server begins each connection with `resync`, so no change is missed.
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
      again = setTimeout(open, RETRY_MS);
      listener.refused();
    });
  }

  open();
  return () => {
    clearTimeout(again);
    stream.close();
  };
}
