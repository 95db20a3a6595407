import { deserialize, serialize } from 'node:v8';
import { type Child, type Ending, startChild } from './child-process.ts';
import { type IsolatedTask, IsolatedTaskLost, type TaskLoss } from './isolated-task.ts';
import type { FromChild } from './messages.ts';

export interface IsolatedProcessOptions {
  /** MiB of memory of the process, half of it for JavaScript. Linux only for what libraries use beside it. */
  memoryMb: number;
  /** Milliseconds for a task, after the process has started. On Linux, more while the process waits for a processor. */
  limitMs: number;
  /** The most bytes of an input, and of an output. */
  maxBytes: number;
  /** Tasks that run at once; others wait. A task that blocks the process delays those that run beside it. */
  concurrency?: number;
  /** Milliseconds without a task after which the process ends. */
  idleMs?: number;
}

export interface RunOptions {
  /** Passed on to the task, which decides what an abort means. */
  signal?: AbortSignal;
  /** In place of the limit of the process. */
  limitMs?: number;
}

/** One child process for tasks that can crash. It starts with the first task and is replaced when it dies. */
export interface IsolatedProcess {
  /**
   * Runs a task and returns its output. Rejects with the error that the task threw, or with {@link IsolatedTaskLost}. Tasks whose process
   * died run again in ever smaller groups, the last time alone: another task may have killed it.
   */
  run<Input, Output>(task: IsolatedTask<Input, Output>, input: Input, options?: RunOptions): Promise<Output>;
  /** Kills the process. Tasks that run are lost, and later ones start a new process. */
  close(): void;
}

interface Request {
  id: number;
  task: IsolatedTask<never, unknown>;
  input: Uint8Array;
  limitMs: number;
  signal: AbortSignal | undefined;
  /** Its process died. */
  isSuspect: boolean;
  timer?: NodeJS.Timeout;
  abort?: () => void;
  /** Throws if the bytes cannot be read. */
  resolve(output: Uint8Array): void;
  reject(error: unknown): void;
}

const CONCURRENCY = 16;
const IDLE_MS = 60_000;
/** Of a message around its value. */
const ENVELOPE_BYTES = 1_024;
/** A machine that is busy or stood still gives a task so many times its limit, unless the process has computed for half of the limit. */
const MOST_LIMITS = 4;
const REASONS: Record<TaskLoss, string> = {
  crash: 'ended its process',
  memory: 'used too much memory',
  time: 'took too long',
  too_large: 'is too large',
  start: 'found no process',
};

/** Creates a process for tasks. Nothing starts before the first one. */
export function createIsolatedProcess({
  memoryMb,
  limitMs,
  maxBytes,
  concurrency = CONCURRENCY,
  idleMs = IDLE_MS,
}: IsolatedProcessOptions): IsolatedProcess {
  let child: Child | undefined;
  let isReady = false;
  let idle: NodeJS.Timeout | undefined;
  let lastId = 0;
  const waiting: Request[] = [];
  /** Groups of tasks that ran when the process died. They run before those that wait, one group at a time. */
  const suspects: Request[][] = [];
  const running = new Map<number, Request>();

  function runNext(): void {
    for (const request of next()) begin(request);
    if (running.size > 0 || child === undefined) return;
    child.setBusy(false);
    clearTimeout(idle);
    idle = setTimeout(release, idleMs).unref();
  }

  function next(): Request[] {
    if (suspects.length > 0) return running.size === 0 ? (suspects.shift() ?? []) : [];
    const isByItself = [...running.values()].some(({ isSuspect }) => isSuspect);
    return isByItself ? [] : waiting.splice(0, concurrency - running.size);
  }

  function begin(request: Request): void {
    clearTimeout(idle);
    child ??= start();
    child.setBusy(true);
    running.set(request.id, request);
    const { id, task, input, signal } = request;
    child.send({ id, module: task.module, name: task.name, value: input, maxBytes });
    request.abort = () => child?.send({ abort: id });
    if (signal?.aborted) request.abort();
    else signal?.addEventListener('abort', request.abort, { once: true });
    if (isReady) limit(request);
  }

  function start(): Child {
    isReady = false;
    return startChild({ memoryMb, mostBytes: maxBytes + ENVELOPE_BYTES }, { received, ended });
  }

  function release(): void {
    child?.release();
    child = undefined;
  }

  function received({ id, kind, value }: FromChild): void {
    if (id === null) {
      isReady = true;
      for (const request of running.values()) limit(request);
      return;
    }
    const request = running.get(id);
    if (request === undefined) return;
    if (kind === 'returned') request.resolve(value);
    else request.reject(kind === 'thrown' ? deserialize(value) : lost(request, 'too_large', 'its output'));
    forget(request);
    runNext();
  }

  /** A task that exceeds its time may block the process, so the process ends with it. */
  function limit(request: Request): void {
    const before = child?.processorMs() ?? null;
    const wait = (limits: number): void => {
      request.timer = setTimeout(() => {
        const now = child?.processorMs() ?? null;
        const hasWaited = before !== null && now !== null && now - before < request.limitMs / 2;
        if (hasWaited && limits < MOST_LIMITS) return wait(limits + 1);
        forget(request);
        request.reject(lost(request, 'time', `more than ${limits * request.limitMs} ms`));
        child?.kill('time', 'another task took too long');
      }, request.limitMs);
    };
    wait(1);
  }

  function ended({ reason, text }: Ending): void {
    child = undefined;
    const group = [...running.values()];
    for (const request of group) forget(request);
    const isFound = group.length === 1 && group[0]?.isSuspect;
    if (reason === 'closed' || isFound) {
      for (const request of group) request.reject(lost(request, reason, text));
    } else suspects.unshift(...halves(group.map((request) => ({ ...request, isSuspect: true }))));
    runNext();
  }

  function forget({ id, timer, signal, abort }: Request): void {
    running.delete(id);
    clearTimeout(timer);
    if (abort) signal?.removeEventListener('abort', abort);
  }

  return {
    run: (task, input, options = {}) =>
      new Promise((resolve, reject) => {
        const bytes = serialize(input);
        lastId += 1;
        const request: Request = {
          id: lastId,
          task: { module: task.module, name: task.name },
          input: bytes,
          limitMs: options.limitMs ?? limitMs,
          signal: options.signal,
          isSuspect: false,
          resolve: (output) => resolve(deserialize(output)),
          reject,
        };
        if (bytes.byteLength > maxBytes) {
          reject(lost(request, 'too_large', `${bytes.byteLength} bytes, more than ${maxBytes}`));
          return;
        }
        waiting.push(request);
        runNext();
      }),
    close: () => child?.kill('closed', 'the platform stops'),
  };
}

/** Halves find one deadly task among many in few runs. */
function halves(group: Request[]): Request[][] {
  const middle = Math.ceil(group.length / 2);
  return [group.slice(0, middle), group.slice(middle)].filter(({ length }) => length > 0);
}

function lost({ task }: Request, reason: Ending['reason'] | TaskLoss, detail: string): IsolatedTaskLost {
  const loss = reason === 'closed' ? 'start' : reason;
  return new IsolatedTaskLost(loss, `The isolated task ${task.name} ${REASONS[loss]}: ${detail}.`);
}
