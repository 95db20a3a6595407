/** A signal with a time limit of its own. */
export interface TimeLimit {
  /** Aborted with the signal that it was made of, or when the time is over. */
  signal: AbortSignal;
  /** Lets go of the timer and of the outer signal; to be called when the work is over. */
  end(): void;
}

/** Aborts when `outer` does, and at the latest after so many milliseconds. */
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
