import { Worker } from 'node:worker_threads';
import { threadEnvironment } from '../../../../lib/compile-cache.ts';
import { DamagedArchiveError } from '../damaged-archive.ts';
import { isReply, type StoreAnswer, type StoreCall, type StoreFailure } from './store-calls.ts';

/** A thread that works for one store at a time. */
export interface StoreThread {
  worker: Worker;
  /** Calls are done in order. Errors: {@link DamagedArchiveError} and {@link StoreError}. */
  call(message: StoreCall, moved: readonly ArrayBuffer[]): Promise<StoreAnswer>;
  /** Whether no call waits and none has failed. */
  isSound(): boolean;
  end(error: Error): Promise<void>;
}

interface Waiting {
  resolve(answer: StoreAnswer): void;
  reject(error: unknown): void;
}

/** A start takes 75 ms of a processor, three times as much as a backup of a small website. So threads wait a while for the next store. */
const IDLE_MS = 10_000;
/** Each holds about 10 MiB. */
const MOST_IDLE = 2;
const idle: { thread: StoreThread; timer: NodeJS.Timeout }[] = [];

export function takeThread(): StoreThread {
  const waiting = idle.pop();
  if (waiting === undefined) return startThread();
  clearTimeout(waiting.timer);
  waiting.thread.worker.ref();
  return waiting.thread;
}

/** Ends the thread at once if it still works or has failed. */
export async function giveBack(thread: StoreThread): Promise<void> {
  const closed = new Error('the store was closed');
  if (!thread.isSound()) return thread.end(closed);
  try {
    await thread.call({ op: 'close' }, []);
  } catch {
    // It cannot be used again, and its store has nothing more to do.
    return thread.end(closed);
  }
  if (idle.length >= MOST_IDLE) return thread.end(closed);
  // A process ends without waiting for it.
  thread.worker.unref();
  const timer = setTimeout(() => {
    forget(thread);
    void thread.end(closed);
  }, IDLE_MS).unref();
  idle.push({ thread, timer });
}

function forget(thread: StoreThread): void {
  const at = idle.findIndex((one) => one.thread === thread);
  if (at !== -1) clearTimeout(idle.splice(at, 1)[0]?.timer);
}

function startThread(): StoreThread {
  const worker = new Worker(new URL('./store-thread.ts', import.meta.url), { env: threadEnvironment() });
  const waiting: Waiting[] = [];
  let hasFailed = false;
  let ended: { error: unknown } | null = null;

  function end(error: unknown): void {
    ended ??= { error };
    for (const { reject } of waiting.splice(0)) reject(ended.error);
  }

  function fail(caller: Waiting | undefined, error: Error): void {
    hasFailed = true;
    caller?.reject(error);
  }

  worker.on('message', (reply: unknown) => {
    const caller = waiting.shift();
    if (!isReply(reply)) fail(caller, new TypeError('the thread of a store gave no answer'));
    else if ('failure' in reply) fail(caller, errorOf(reply.failure));
    else caller?.resolve(reply.answer);
  });
  worker.on('error', end);

  const thread: StoreThread = {
    worker,
    call: (message, moved) =>
      new Promise((resolve, reject) => {
        if (ended !== null) return reject(ended.error);
        worker.postMessage(message, moved);
        waiting.push({ resolve, reject });
      }),
    isSound: () => !hasFailed && ended === null && waiting.length === 0,
    async end(error) {
      end(error);
      await worker.terminate();
    },
  };
  worker.on('exit', () => {
    forget(thread);
    end(new Error('the thread of a store has ended'));
  });
  return thread;
}

/** The store failed, not what it was given: its disk may be full. `code` is that of the system. */
export class StoreError extends Error {
  override name = 'StoreError';
  readonly code: string | undefined;

  constructor(message: string, code: string | undefined, options: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

function errorOf({ message, isDamage, stack, code }: StoreFailure): Error {
  const cause = new Error(message);
  cause.stack = stack;
  if (isDamage) return new DamagedArchiveError(message, { cause });
  return new StoreError(message, code, { cause });
}
