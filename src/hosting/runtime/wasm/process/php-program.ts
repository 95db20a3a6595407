import { Worker } from 'node:worker_threads';
import type { PhpProcessStart } from '../process-protocol.ts';
import type { FromProgram, ProgramStart, ProgramStream } from './thread-messages.ts';

/** Takes what a program writes. After `end` or `fail` nothing follows. */
export interface ProgramListener {
  /** `taken` is called when more may follow. */
  output(stream: ProgramStream, chunk: Buffer, taken: () => void): void;
  end(exit: number): void;
  /** The program ended without an exit code. */
  fail(message: string): void;
}

export interface BegunProgram {
  /** Ends the program. Its listener learns nothing more. */
  kill(): void;
}

const MIB = 1024 * 1024;
export const RING_BYTES = MIB;
export const THREAD_LIMITS = { maxOldGenerationSizeMb: 128 };
const SOURCE = new URL('./program-thread.ts', import.meta.url);

/** Whether PHP crashed because it could get no more memory. */
export const isOutOfMemory = ({ memory }: { memory: number }, { threadMb }: PhpProcessStart): boolean =>
  memory > (threadMb - 64) * MIB;

interface Surroundings {
  log(line: string): void;
  /** The thread has ended. `reason`: why the program was ended or crashed; null if it was done. */
  ended(temporary: ReadonlySet<string>, reason: string | null): void;
}

/** Starts a thread that runs a program. */
export function startProgram(
  start: ProgramStart,
  listener: ProgramListener,
  { log, ended }: Surroundings,
): BegunProgram {
  const worker = new Worker(SOURCE, { workerData: start, resourceLimits: THREAD_LIMITS });
  const ring = Buffer.from(start.ring);
  const unread = new Int32Array(start.unread);
  const temporary = new Set<string>();
  let failure: string | null = 'PHP ended';
  let isKilled = false;

  worker.on('message', (message: FromProgram) => {
    if (isKilled) return;
    if (message.kind === 'temporary') temporary.add(message.name);
    else if (message.kind === 'output') {
      const { at, length, stream } = message;
      listener.output(stream, Buffer.from(ring.subarray(at, at + length)), () => {
        Atomics.sub(unread, 0, length);
        Atomics.notify(unread, 0);
      });
    } else {
      failure = failureOf(message);
      if (failure === null) listener.end(message.exit);
      void worker.terminate();
    }
  });
  worker.on('error', (error) => {
    log(`a program ended: ${error.message}`);
    failure = error.message;
  });
  worker.on('exit', () => {
    ended(temporary, failure);
    if (failure !== null && !isKilled) listener.fail(failure);
  });

  function failureOf(message: FromProgram & { kind: 'end' }): string | null {
    if (message.crash === null) return null;
    log(`PHP crashed: ${message.crash}`);
    return isOutOfMemory(message, start.settings)
      ? 'The command needed more memory than it may have.'
      : `PHP crashed: ${message.crash}`;
  }

  return {
    kill() {
      if (failure === null) return;
      isKilled = true;
      failure = 'it was ended';
      void worker.terminate();
    },
  };
}
