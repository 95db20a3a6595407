import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import { type Backoff, RESTARTS, restartDelay } from '../../hosting/linux/machine/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import { OperatorError } from '../../lib/operator-error.ts';

export interface Ending {
  kind: 'in order' | 'failed' | 'killed';
  /** For people. */
  text: string;
  /** Exit status; null after a signal. */
  status: number | null;
}

/** A child process that is restarted with backoff whenever it ends. */
export interface KeptProcess {
  /** Resolves when its first run is ready. Rejects with an OperatorError if that ends before, and stays ended. */
  ready: Promise<void>;
  /** Ends it gracefully. Resolves with how its last run ended. */
  stop(): Promise<Ending>;
  /** Passes a signal on. */
  signal(signal: NodeJS.Signals): void;
}

export interface ProcessToKeep {
  /** For the log: `the host of this machine`. */
  name: string;
  start(): ChildProcess;
  /** Resolves when the process is ready. `ended` aborts when it has ended. */
  untilReady(child: ChildProcess, ended: AbortSignal): Promise<void>;
  /** Cleans up after a killed run without a successor. */
  cleanUp?(): Promise<void>;
  log: Logger;
  clock: Clock;
  restarts?: Backoff;
}

interface Run {
  child: ChildProcess;
  ended: Promise<Ending>;
}

export function keepProcess(options: ProcessToKeep): KeptProcess {
  const { name, untilReady, cleanUp = async () => {}, log, clock, restarts = RESTARTS } = options;
  const stopping = new AbortController();
  const readiness = Promise.withResolvers<void>();
  let run = begin(options.start());
  const watched = watch();
  // A rejection without a waiter must not end the process.
  readiness.promise.catch(() => {});
  watched.catch(readiness.reject);

  async function watch(): Promise<Ending> {
    let startedAt = clock.now().getTime();
    let delay: number | null = null;
    if (!(await becomesReady(run)) && !stopping.signal.aborted) {
      const ending = await run.ended;
      if (ending.kind === 'killed') await cleanUp();
      readiness.reject(new OperatorError(`${name} ended before it was ready; the reason is above.`));
      return ending;
    }
    readiness.resolve();
    for (;;) {
      const ending = await run.ended;
      if (!stopping.signal.aborted) {
        delay = restartDelay(restarts, delay, clock.now().getTime() - startedAt);
        log.error({ restartInMs: delay }, `${name} ${ending.text}`);
        await pause(delay, null, { signal: stopping.signal }).catch(() => null);
      }
      if (stopping.signal.aborted) {
        if (ending.kind !== 'in order') await cleanUp();
        return ending;
      }
      startedAt = clock.now().getTime();
      run = begin(options.start());
    }
  }

  async function becomesReady({ child, ended }: Run): Promise<boolean> {
    const over = new AbortController();
    const end = ended.then(() => over.abort());
    await Promise.race([untilReady(child, over.signal), end]);
    return !over.signal.aborted;
  }

  return {
    ready: readiness.promise,
    async stop() {
      stopping.abort();
      run.child.kill('SIGTERM');
      return watched;
    },
    signal: (signal) => void run.child.kill(signal),
  };
}

function begin(child: ChildProcess): Run {
  const ended = new Promise<Ending>((resolve) => {
    child.once('error', ({ message }) =>
      resolve({ kind: 'failed', text: `could not be started: ${message}`, status: null }),
    );
    child.once('exit', (status, signal) => {
      if (signal !== null) resolve({ kind: 'killed', text: `was ended by ${signal}`, status });
      else
        resolve({ kind: status === 0 ? 'in order' : 'failed', text: `ended with status ${status}`, status });
    });
  });
  return { child, ended };
}
