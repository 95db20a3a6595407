import { Worker } from 'node:worker_threads';
import type { PhpProcessStart, PhpThreadSite, PhpWarmUp, ProgramBody } from '../process-protocol.ts';
import { compilePhp, compilePhpToKeep, keepCode } from './compiled-php.ts';
import { type CutCalls, createCutCalls } from './cut-calls.ts';
import { LockTable, newLockTable } from './lock-table.ts';
import {
  type BegunProgram,
  isOutOfMemory,
  type ProgramListener,
  RING_BYTES,
  startProgram,
  THREAD_LIMITS,
} from './php-program.ts';
import type { FromThread, PhpCall, ThreadStart, ToThread } from './thread-messages.ts';

/** Why a call got no answer. */
export type CallFailure = 'busy' | 'timeout' | 'memory' | 'failed';

/** Takes the answer of a call. After `end` or `fail` nothing follows. */
export interface CallListener {
  head(status: number, headers: [name: string, value: string][]): void;
  /** `taken` is called when more may follow. */
  output(chunk: Buffer, taken: () => void): void;
  end(exit: number, error: string): void;
  fail(reason: CallFailure, message: string): void;
}

export interface PhpThreads {
  /** Starts the first thread. Resolves to PHP's version. */
  begin(): Promise<string>;
  /** Shows a page of another website in the first thread. Returns why it cannot serve a website now, or null. */
  warmUp(given: PhpWarmUp): Promise<string | null>;
  /** Writes the machine code of PHP into a file. */
  keepCode(path: string): Promise<void>;
  /** Gives the threads their website. */
  serve(site: PhpThreadSite): Promise<void>;
  /** Runs a call when a thread is free. */
  call(call: Omit<PhpCall, 'id'>, seconds: number, listener: CallListener): BegunCall;
  /** Runs a program in a separate thread, beside the calls. */
  run(program: ProgramBody, listener: ProgramListener): BegunProgram;
}

export interface BegunCall {
  /** The visitor has left. A call that waits for a thread is forgotten. */
  giveUp(): void;
  /** The visitor has left: PHP ends at its next output, unless it ignores that. */
  leave(): void;
}

interface Thread {
  worker: Worker;
  number: number;
  ring: Buffer;
  unread: Int32Array;
  state: 'starting' | 'free' | 'busy' | 'ended';
  calls: number;
  job: Job | null;
  /** Files that PHP removes at the end of the job. */
  temporary: Set<string>;
  timer: NodeJS.Timeout | undefined;
  /** Why this process ends it. */
  ending: { reason: CallFailure; message: string } | null;
}

interface Job {
  call: PhpCall;
  seconds: number;
  listener: CallListener;
  timer: NodeJS.Timeout | undefined;
  isGivenUp: boolean;
  hasLeft: boolean;
}

const MIB = 1024 * 1024;
/** A thread does not give memory back. One with more than this is replaced after its request. */
const RECYCLED_MB = 200;
/** Between two attempts to start a thread. One that cannot start, because memory is short, must not take the processor too. */
const START_PAUSE_MS = 1_000;
/** Leaks of PHP and its extensions end with the thread. */
const MOST_CALLS = 2_000;
const SOURCE = new URL('./thread.ts', import.meta.url);

/** Runs the threads of the process: each runs one call at a time. Tests start other threads by `newWorker`. */
export function createPhpThreads(
  settings: PhpProcessStart,
  wasm: string,
  log: (line: string) => void,
  newWorker: (workerData: ThreadStart) => Worker = startWorker,
): PhpThreads {
  const lockTable = newLockTable();
  // Number 0 means that no thread uses the table.
  const locks = new LockTable(lockTable, 1);
  let lastNumber = 1;
  let lastCall = 0;
  /** PHP, which all threads share. */
  let program: WebAssembly.Module | null = null;
  let site: PhpThreadSite | null = null;
  let cut: CutCalls | null = null;
  const threads = new Set<Thread>();
  const waiting: Job[] = [];
  /** Until the next attempt to start a thread. */
  let pause: NodeJS.Timeout | undefined;
  /** The first answer of a website takes many times as long as later ones, and after a restart all visitors wait for it. Their time begins after it. */
  let isWarm = false;

  const startOf = (module: WebAssembly.Module, thread: number): ThreadStart => ({
    module,
    thread,
    settings,
    lockTable,
    unread: new SharedArrayBuffer(8),
    ring: new SharedArrayBuffer(RING_BYTES),
  });

  /** Resolves to PHP's version once the thread is ready; the thread then is free if there is a website. */
  function start(module: WebAssembly.Module): Promise<string> {
    const number = ++lastNumber;
    const workerData = startOf(module, number);
    const { ring, unread } = workerData;
    const worker = newWorker(workerData);
    const thread: Thread = {
      worker,
      number,
      ring: Buffer.from(ring),
      unread: new Int32Array(unread),
      state: 'starting',
      calls: 0,
      job: null,
      temporary: new Set(),
      timer: undefined,
      ending: null,
    };
    threads.add(thread);
    return new Promise((resolve, reject) => {
      worker.on('message', (message: FromThread) => {
        if (message.kind === 'ready') {
          resolve(message.version);
          if (site !== null) post(thread, { site });
        } else receive(thread, message);
      });
      worker.on('error', (error) => {
        reject(error);
        log(`a thread ended: ${error.message}`);
        ended(thread, 'failed', error.message);
      });
      worker.on('exit', () => {
        reject(new Error('the thread ended'));
        ended(thread, 'failed', 'PHP ended');
      });
    });
  }

  function post(thread: Thread, message: ToThread): void {
    thread.worker.postMessage(message);
  }

  function receive(thread: Thread, message: FromThread): void {
    if (message.kind === 'serving') {
      thread.state = 'free';
      next();
      return;
    }
    if (message.kind === 'temporary') {
      thread.temporary.add(message.name);
      return;
    }
    const { job } = thread;
    if (job === null || message.kind === 'ready' || message.kind === 'warm' || message.id !== job.call.id)
      return;
    if (message.kind === 'head') job.listener.head(message.status, message.headers);
    else if (message.kind === 'output') {
      const { at, length } = message;
      const chunk = Buffer.from(thread.ring.subarray(at, at + length));
      job.listener.output(chunk, () => {
        Atomics.sub(thread.unread, 0, length);
        Atomics.notify(thread.unread, 0);
      });
    } else finished(thread, job, message);
  }

  function finished(thread: Thread, job: Job, message: FromThread & { kind: 'end' }): void {
    clearTimeout(thread.timer);
    limitWaits();
    if (message.crash !== null) {
      log(`PHP crashed: ${message.crash}`);
      if (isOutOfMemory(message, settings))
        end(thread, 'memory', 'the request needed more memory than its thread may have');
      else end(thread, 'failed', message.crash);
      return;
    }
    thread.job = null;
    thread.temporary.clear();
    job.listener.end(message.exit, message.error);
    if (message.memory > RECYCLED_MB * MIB || thread.calls >= MOST_CALLS) end(thread, 'failed', 'replaced');
    else {
      thread.state = 'free';
      next();
    }
  }

  /** Ends a thread and fails its call. */
  function end(thread: Thread, reason: CallFailure, message: string): void {
    thread.ending ??= { reason, message };
    thread.state = 'ended';
    void thread.worker.terminate().then(() => ended(thread, reason, message));
  }

  function ended(thread: Thread, reason: CallFailure, message: string): void {
    if (!threads.delete(thread)) return;
    limitWaits();
    if (thread.state === 'starting') pauseStarts();
    thread.state = 'ended';
    clearTimeout(thread.timer);
    locks.releaseDead(thread.number);
    const { job } = thread;
    thread.job = null;
    if (job !== null) {
      const failed = thread.ending ?? { reason, message };
      cut?.clean(nameOf(job.call), thread.temporary, failed.message);
      job.listener.fail(failed.reason, failed.message);
    }
    next();
  }

  function limitWaits(): void {
    if (isWarm) return;
    isWarm = true;
    for (const job of waiting) limitWait(job);
  }

  function limitWait(job: Job): void {
    job.timer = setTimeout(() => {
      job.isGivenUp = true;
      const at = waiting.indexOf(job);
      if (at !== -1) waiting.splice(at, 1);
      job.listener.fail('busy', 'all threads are in use');
    }, site?.waitMs ?? 0);
  }

  function pauseStarts(): void {
    pause ??= setTimeout(() => {
      pause = undefined;
      next();
    }, START_PAUSE_MS);
  }

  /** Gives waiting calls to free threads, and starts threads for the others. */
  function next(): void {
    for (;;) {
      const [job] = waiting;
      if (job === undefined || site === null || program === null) return;
      const free = [...threads].find(({ state }) => state === 'free');
      if (free === undefined) {
        const isStarting = [...threads].some(({ state }) => state === 'starting');
        if (!isStarting && pause === undefined && threads.size < site.threads)
          void start(program).catch(() => undefined);
        return;
      }
      waiting.shift();
      clearTimeout(job.timer);
      if (!job.isGivenUp) run(free, job);
    }
  }

  function run(thread: Thread, job: Job): void {
    thread.state = 'busy';
    thread.job = job;
    thread.calls += 1;
    Atomics.store(thread.unread, 1, job.hasLeft ? 1 : 0);
    thread.timer = setTimeout(
      () => end(thread, 'timeout', `the request took longer than ${job.seconds} s`),
      job.seconds * 1000,
    );
    post(thread, { call: job.call });
  }

  return {
    async begin() {
      program = await (settings.keepsCode ? compilePhpToKeep(wasm) : compilePhp(wasm));
      return start(program);
    },
    async warmUp(warmUp) {
      const [thread] = threads;
      if (thread === undefined) return 'no thread';
      const answer = nextMessage(thread.worker);
      post(thread, { warmUp });
      const message = await answer;
      return message.kind === 'warm' ? message.error : 'no answer';
    },
    async keepCode(path) {
      if (program !== null) await keepCode(program, path);
    },
    async serve(given) {
      site = given;
      cut = createCutCalls(given.folders.private, log);
      for (const thread of threads) post(thread, { site });
      await Promise.race([...threads].map(({ worker }) => nextMessage(worker)));
    },
    run(body, listener) {
      if (program === null || site === null) throw new Error('there is no website yet');
      const number = ++lastNumber;
      return startProgram({ ...startOf(program, number), site, program: body }, listener, {
        log,
        ended(temporary, reason) {
          locks.releaseDead(number);
          if (reason !== null) cut?.clean('a program', temporary, reason);
        },
      });
    },
    call(call, seconds, listener) {
      const job: Job = {
        call: { ...call, id: ++lastCall },
        seconds,
        listener,
        timer: undefined,
        isGivenUp: false,
        hasLeft: false,
      };
      if (isWarm) limitWait(job);
      waiting.push(job);
      next();
      return {
        giveUp() {
          job.isGivenUp = true;
        },
        leave() {
          job.hasLeft = true;
          const thread = [...threads].find((one) => one.job === job);
          if (thread === undefined) return;
          Atomics.store(thread.unread, 1, 1);
          // It may wait for room for its output.
          Atomics.notify(thread.unread, 0);
        },
      };
    },
  };
}

const startWorker = (workerData: ThreadStart) =>
  new Worker(SOURCE, { workerData, resourceLimits: THREAD_LIMITS });

function nameOf({ method, target, code }: PhpCall): string {
  // The query may have secrets.
  return code === null ? `${method} ${target.split('?', 1)[0]}` : 'a task of the platform';
}

function nextMessage(worker: Worker): Promise<FromThread> {
  return new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('exit', () => reject(new Error('the thread ended')));
  });
}
