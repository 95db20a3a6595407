/** Requests that a client sent and that have not been answered. */
export interface RequestQueue {
  /** Takes a request; `bytes` is what it holds in memory until it is done. Requests run one after the other. */
  add(bytes: number, request: () => Promise<void>): void;
  /** To be called when something was sent or came in: what waits for room may go on. */
  wake(): void;
  /** Drops what waits, and resolves once nothing runs any more. */
  stop(): Promise<void>;
}

export interface QueueOptions {
  /** Bytes of answers that have not left yet. */
  backlog(): number;
  /** Asks for no more data from the client (true), or takes that back (false). */
  hold(held: boolean): void;
  /** The client sends far more than it may; the queue takes no more. */
  overflow(): void;
}

/** Answers that may wait to be sent before the next request is done; clients ask for 2 MB ahead. */
const BACKLOG_BYTES = 4 * 1024 * 1024;
/** Data to write that may wait for the disk; then the client is made to wait. */
const WAITING_BYTES = 4 * 1024 * 1024;
/** What no well-behaved client reaches, as it would have to ignore being made to wait. */
const OVERFLOW_BYTES = 32 * 1024 * 1024;
const OVERFLOW_REQUESTS = 8192;

/**
 * Bounds the memory that one session may take. A client that does not read its answers waits for itself: nothing more
 * is done until it does, while the connection is still read, for its permission to send more comes that way. A client
 * that writes faster than the disk is not read for a while.
 */
export function createRequestQueue({ backlog, hold, overflow }: QueueOptions): RequestQueue {
  const waiting: { bytes: number; request: () => Promise<void> }[] = [];
  let waitingBytes = 0;
  let running: Promise<void> | null = null;
  let isHeld = false;
  let isStopped = false;

  function setHeld(held: boolean): void {
    if (held === isHeld) return;
    isHeld = held;
    hold(held);
  }

  function mayGoOn(): boolean {
    const isBlocked = backlog() > BACKLOG_BYTES;
    setHeld(waitingBytes > WAITING_BYTES && !isBlocked);
    return waiting.length > 0 && !isBlocked;
  }

  async function run(): Promise<void> {
    try {
      while (!isStopped && mayGoOn()) {
        const next = waiting.shift();
        if (next === undefined) return;
        await next.request();
        waitingBytes -= next.bytes;
      }
    } finally {
      running = null;
    }
  }

  function wake(): void {
    if (running === null && !isStopped && mayGoOn()) running = run();
  }

  return {
    add(bytes, request) {
      if (isStopped) return;
      waiting.push({ bytes, request });
      waitingBytes += bytes;
      if (waitingBytes > OVERFLOW_BYTES || waiting.length > OVERFLOW_REQUESTS) {
        isStopped = true;
        waiting.length = 0;
        setHeld(false);
        overflow();
        return;
      }
      if (running === null) wake();
      else mayGoOn();
    },
    wake,
    async stop() {
      isStopped = true;
      waiting.length = 0;
      setHeld(false);
      await running;
    },
  };
}
