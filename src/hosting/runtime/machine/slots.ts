import { PhpFailure } from '../wasm/php-sites.ts';

const RETRY_AFTER = 5;

/** How many requests and scripts of a website run at once. */
export interface Slots {
  /**
   * Waits for a slot. Call the returned function once.
   *
   * @throws PhpFailure `busy` if none is free in time
   */
  take(signal?: AbortSignal): Promise<() => void>;
}

export function createSlots(count: number, waitMs: number): Slots {
  let free = count;
  const waiting: (() => void)[] = [];

  function release(): void {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  }

  return {
    async take(signal) {
      signal?.throwIfAborted();
      if (free > 0) free -= 1;
      else await turn(signal);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        release();
      };
    },
  };

  function turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (error: unknown): void => {
        waiting.splice(waiting.indexOf(begin), 1);
        settle();
        reject(error);
      };
      const late = setTimeout(
        () => leave(new PhpFailure('busy', 'all threads are in use', RETRY_AFTER)),
        waitMs,
      );
      const abort = (): void => leave(signal?.reason);
      const settle = (): void => {
        clearTimeout(late);
        signal?.removeEventListener('abort', abort);
      };
      function begin(): void {
        settle();
        resolve();
      }
      signal?.addEventListener('abort', abort, { once: true });
      waiting.push(begin);
    });
  }
}
