/** Unanswered requests of a client. */
export interface RequestQueue {
  /** Queues a request, which holds `bytes` in memory until it is done. Requests run one after the other. */
  add(bytes: number, request: () => Promise<void>): void;
  /** Call this after data was sent or received, so that waiting requests can continue. */
  wake(): void;
  /** Drops waiting requests and resolves once none is running. */
  stop(): Promise<void>;
}

export interface QueueOptions {
  /** Bytes of unsent responses. */
  backlog(): number;
  /** Pauses (true) or resumes (false) reading from the client. */
  hold(held: boolean): void;
  /** The client exceeds the limits by far; the queue accepts no more. */
  overflow(): void;
}

/** Unsent responses, in bytes, above which no request runs. Clients request 2 MB ahead. */
const BACKLOG_BYTES = 4 * 1024 * 1024;
/** Unwritten data, in bytes, above which the client is paused. */
const WAITING_BYTES = 4 * 1024 * 1024;
/** No well-behaved client reaches this, because it would have to ignore the pause. */
const OVERFLOW_BYTES = 32 * 1024 * 1024;
const OVERFLOW_REQUESTS = 8192;

/**
 * Bounds the memory of one session. If a client does not read its responses, no further request runs until it does. The connection is
 * still read, because the client's window updates arrive on it. A client that writes faster than the disk is not read for a while.
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
