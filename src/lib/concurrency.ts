/** Runs work for one key at a time, in call order; different keys run side by side. A failure does not stop the next call. */
export type Serially = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>;

/** Returns a mutual exclusion by key: see {@link Serially}. Keys without work take no memory. */
export function serializeByKey(): Serially {
  const tails = new Map<string, Promise<unknown>>();
  return (key, work) => {
    const result = (tails.get(key) ?? Promise.resolve()).then(work, work);
    // The caller handles a failure through `result`; the queue only waits.
    const tail = result
      .catch(() => undefined)
      .then(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
    tails.set(key, tail);
    return result;
  };
}

/**
 * Runs `work` under `lock` if the lock is acquired within `withinMs`. Otherwise resolves to null and never starts it. Work that has
 * started may take any time.
 */
export function tryWithin<Result>(
  withinMs: number,
  lock: (work: () => Promise<void>) => Promise<void>,
  work: () => Promise<Result>,
): Promise<Result | null> {
  return new Promise((resolve, reject) => {
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      resolve(null);
    }, withinMs);
    lock(async () => {
      clearTimeout(timer);
      if (!timedOut) resolve(await work());
    }).catch(reject);
  });
}

interface Waiting {
  /** Never rejects: the outcome goes to the caller that waits. */
  run(): Promise<void>;
  reject(reason: unknown): void;
}

/**
 * Runs work under a lock that is expensive to acquire. All work that waits when the lock is acquired runs in that one acquisition, in
 * call order. A failure of the lock rejects all of it, a failure of one work only that one.
 */
export function batchUnderLock(
  lock: (work: () => Promise<void>) => Promise<void>,
): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: Waiting[] = [];
  let isDraining = false;

  async function drain(): Promise<void> {
    isDraining = true;
    while (waiting.length > 0) await runBatch();
    isDraining = false;
  }

  async function runBatch(): Promise<void> {
    let batch: Waiting[] = [];
    try {
      await lock(async () => {
        // Taken only now, so that the batch includes work that arrived while the lock was awaited.
        batch = waiting.splice(0);
        for (const { run } of batch) await run();
      });
    } catch (error) {
      // Work that has run is settled already; rejecting it again has no effect.
      for (const { reject } of batch.length > 0 ? batch : waiting.splice(0)) reject(error);
    }
  }

  return (work) =>
    new Promise((resolve, reject) => {
      const run = () => work().then(resolve, reject);
      waiting.push({ run, reject });
      if (!isDraining) void drain();
    });
}

/** Callers that arrive during a run share that run and its outcome. */
export function singleFlight<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined;
  return () => {
    running ??= work().finally(() => {
      running = undefined;
    });
    return running;
  };
}

/**
 * Callers that arrive during a run share one further run, which starts when the first ends. So a caller's promise resolves only after a
 * run that started after its call.
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
    const startNext = () => {
      next = undefined;
      return call();
    };
    // A failed run rejects for its own callers only.
    next ??= running.then(startNext, startNext);
    return next;
  };
}

/**
 * Maps items with at most `concurrency` calls of `work` at the same time; results are in the order of the items. A failure does not stop
 * the other items: rejects with the first failure, once every item is done.
 */
export async function mapConcurrent<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Promise<Result>[] = [];
  const remaining = items.entries();
  const lanes = Array.from({ length: Math.min(concurrency, items.length) }, async () => {
    for (const [index, item] of remaining) {
      const result = (async () => work(item))();
      results[index] = result;
      await Promise.allSettled([result]);
    }
  });
  await Promise.all(lanes);
  return Promise.all(results);
}

/** Maps items in their order. While the caller uses a result, up to `ahead` further ones are already in progress. */
export async function* mapAhead<Item, Result>(
  items: Iterable<Item>,
  ahead: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Promise<Result>[] = [];
  for (const item of items) {
    const result = work(item);
    // A failure is thrown in its turn. If the caller has stopped before, it is ignored.
    result.catch(() => undefined);
    begun.push(result);
    const next = begun.length > ahead ? begun.shift() : undefined;
    if (next !== undefined) yield await next;
  }
  for (const result of begun) yield await result;
}

/** Returns a function that runs work, at most `most` at the same time; further work waits in call order. */
export function limitConcurrency(most: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running < most) running += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      // The next one takes the place over.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}

/** Like `Promise.all`, but rejects only once all promises are settled, so that no cleanup runs beside work still in progress. */
export async function allDone<const Promises extends readonly Promise<unknown>[]>(
  promises: Promises,
): Promise<{ -readonly [Index in keyof Promises]: Awaited<Promises[Index]> }> {
  await Promise.allSettled(promises);
  return Promise.all(promises);
}

/** Waits for work that others wait for too. Rejects when the signal aborts; the work goes on. */
export async function untilAborted<Result>(
  work: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) return work;
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

export interface RepeatOptions {
  /** Milliseconds between the end of a run and the start of the next. */
  delayMs: number | (() => number);
  /** Receives the error of a failed run; the next run starts all the same. */
  onError(error: unknown): void;
  /** Starts the first run immediately instead of after the first delay. */
  immediately?: boolean;
  /** Lets the pending timer keep the process alive. */
  keepsProcessAlive?: boolean;
}

/** Work that runs again and again until it is stopped. */
export interface Repetition {
  /** Starts no further run. Resolves when the current run has ended. */
  stop(): Promise<void>;
}

/** Runs `work` periodically; runs never overlap. */
export function repeatEvery(work: () => Promise<void>, options: RepeatOptions): Repetition {
  const { delayMs, onError, immediately = false, keepsProcessAlive = false } = options;
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();

  function schedule(): void {
    if (isStopped) return;
    timer = setTimeout(start, typeof delayMs === 'number' ? delayMs : delayMs());
    if (!keepsProcessAlive) timer.unref();
  }

  function start(): void {
    running = work().catch(onError).then(schedule);
  }

  if (immediately) start();
  else schedule();

  return {
    stop() {
      isStopped = true;
      clearTimeout(timer);
      return running;
    },
  };
}
