import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import { type Backoff, RESTARTS, restartDelay } from '../../hosting/linux/daemons/backoff.ts';
import { OperatorError } from '../../operator-error.ts';
import { takesConnections } from '../host-socket.ts';

/** The host of this machine as a process of its own, that is started again whenever it ends. */
export interface HostProcess {
  /** Ends it, with all that it runs. */
  stop(): Promise<void>;
}

interface Run {
  child: ChildProcess;
  ended: Promise<Ending>;
}

interface Ending {
  kind: 'in order' | 'failed' | 'killed';
  /** For people. */
  text: string;
}

const LOOK_MS = 200;

/**
 * Runs the host. Resolves once it takes commands at `socket`; throws OperatorError if it ends before. `endLeftovers` takes
 * away what a host that was killed has left running, where no other one is started that would.
 */
export async function keepHostRunning(options: {
  command: readonly [string, ...string[]];
  socket: string;
  endLeftovers(): Promise<void>;
  log: Logger;
  clock: Clock;
  restarts?: Backoff;
}): Promise<HostProcess> {
  const { command, socket, endLeftovers, log, clock, restarts = RESTARTS } = options;
  const stopping = new AbortController();
  let run = start(command);
  while (!(await takesConnections(socket))) {
    const ending = await Promise.race([run.ended, pause(LOOK_MS, null)]);
    if (ending === null) continue;
    if (ending.kind === 'killed') await endLeftovers();
    throw new OperatorError('The host of this machine ended before it ran; why is said above.');
  }
  const watched = watch();

  async function watch(): Promise<void> {
    let delay: number | null = null;
    for (;;) {
      const startedAt = clock.now().getTime();
      const ending = await run.ended;
      if (!stopping.signal.aborted) {
        delay = restartDelay(restarts, delay, clock.now().getTime() - startedAt);
        log.error({ restartInMs: delay }, `the host of this machine ${ending.text}`);
        await pause(delay, null, { signal: stopping.signal }).catch(() => null);
      }
      if (stopping.signal.aborted) return ending.kind === 'in order' ? undefined : endLeftovers();
      run = start(command);
    }
  }

  return {
    async stop() {
      stopping.abort();
      run.child.kill('SIGTERM');
      await watched;
    },
  };
}

function start([file, ...args]: readonly [string, ...string[]]): Run {
  const child = spawn(file, args, {
    // What it says goes where the server's log goes: the server's own first lines are what people read.
    stdio: ['ignore', 2, 2],
    // Ctrl-C on a terminal is for the server, which ends this one after its own work.
    detached: true,
  });
  const ended = new Promise<Ending>((resolve) => {
    child.once('error', ({ message }) =>
      resolve({ kind: 'failed', text: `could not be started: ${message}` }),
    );
    child.once('exit', (status, signal) => {
      if (signal !== null) resolve({ kind: 'killed', text: `was ended by ${signal}` });
      else resolve({ kind: status === 0 ? 'in order' : 'failed', text: `ended with status ${status}` });
    });
  });
  return { child, ended };
}
