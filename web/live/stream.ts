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

/** An EventSource, as far as it is used. */
export interface Stream {
  readonly readyState: number;
  addEventListener(type: string, listener: (event: MessageEvent) => void): void;
  close(): void;
}

/** What it needs of the browser. */
export interface Browser {
  connect(address: URL): Stream;
  page: Pick<Document, 'addEventListener' | 'removeEventListener' | 'hidden'>;
}

const thisBrowser = (): Browser => ({ connect: (address) => new EventSource(address), page: document });

/** `EventSource.CLOSED`. */
const CLOSED = 2;

/**
 * Follows the server's events until the returned function is called. A browser takes up a broken connection again by itself, but not
 * one that was refused. A page that nobody looks at holds no connection, of which browsers have few for each host; the
 * server begins each with `resync`, so nothing is missed.
 */
export function followStream(
  address: URL,
  listener: StreamListener,
  { connect, page }: Browser = thisBrowser(),
): () => void {
  let stream: Stream | undefined;
  let again: ReturnType<typeof setTimeout> | undefined;

  function open(): void {
    clearTimeout(again);
    stream?.close();
    const opened = connect(address);
    stream = opened;
    opened.addEventListener('change', (event) => listener.change(event.data));
    opened.addEventListener('resync', () => listener.resync());
    opened.addEventListener('error', () => {
      if (opened.readyState !== CLOSED) return;
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
    if (page.hidden) close();
    else if (!stream) open();
  };
  page.addEventListener('visibilitychange', look);
  look();
  return () => {
    page.removeEventListener('visibilitychange', look);
    close();
  };
}
