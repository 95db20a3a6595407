/** A signal with a timeout. */
export interface TimeLimit {
  /** Aborts with the outer signal or at the timeout. */
  signal: AbortSignal;
  /** Releases the timer and the outer signal. Call it when the work is done. */
  end(): void;
}

/** Creates a signal that aborts with `outer`, or after `limitMs` milliseconds. */
export function timeLimit(outer: AbortSignal, limitMs: number): TimeLimit {
  const controller = new AbortController();
  const stop = () => controller.abort();
  const timer = setTimeout(stop, limitMs);
  outer.addEventListener('abort', stop, { once: true });
  if (outer.aborted) stop();
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      outer.removeEventListener('abort', stop);
    },
  };
}
