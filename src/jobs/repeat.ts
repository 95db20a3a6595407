/** Work that is done again and again until it is stopped. */
export interface Repetition {
  /** Nothing begins any more. Resolves when what is under way has ended. */
  stop(): Promise<void>;
}

/** Calls `work` now, and again `delayMs()` after each time it ended; never two at once. `work` must not throw. */
export function repeat(work: () => Promise<void>, delayMs: () => number): Repetition {
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  let underWay: Promise<void>;
  const turn = () => {
    underWay = work().then(() => {
      if (!stopped) timer = setTimeout(turn, delayMs());
    });
  };
  turn();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
      return underWay;
    },
  };
}

/**
 * Makes calls that overlap share one run of `work`, and a call that comes during a run start another one after it:
 * whatever was so when somebody called has been seen by the time their promise resolves.
 */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  return function call(): Promise<void> {
    if (running === undefined) {
      running = work().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running.then(() => {
      next = undefined;
      return call();
    });
    return next;
  };
}
