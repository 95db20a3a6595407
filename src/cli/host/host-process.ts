import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Backoff } from '../../hosting/linux/machine/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import { takesConnections } from '../platform/host-socket.ts';
import { type KeptProcess, keepProcess } from './kept-process.ts';

const LOOK_MS = 200;

/**
 * Runs the host of this machine as a child process. It is ready once it accepts commands at `socket`. `endLeftovers` ends the daemons of a
 * killed host, if no other host is started.
 */
export function keepHostRunning(options: {
  command: readonly [string, ...string[]];
  socket: string;
  endLeftovers(): Promise<void>;
  log: Logger;
  clock: Clock;
  restarts?: Backoff;
}): KeptProcess {
  const { command, socket, endLeftovers, ...rest } = options;
  const [file, ...args] = command;
  return keepProcess({
    ...rest,
    name: 'the host of this machine',
    start: () =>
      spawn(file, args, {
        // Into the log, so that standard output shows the server's first lines only.
        stdio: ['ignore', 2, 2],
        // Ctrl-C goes to the supervisor, which ends this process last.
        detached: true,
      }),
    async untilReady(_child, ended) {
      while (!ended.aborted && !(await takesConnections(socket))) await pause(LOOK_MS);
    },
    cleanUp: endLeftovers,
  });
}
