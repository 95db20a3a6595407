import { spawn } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Backoff } from '../../hosting/linux/machine/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import { takesConnections } from '../platform/host-socket.ts';
import { type KeptProcess, keepProcess } from './kept-process.ts';

const LOOK_MS = 200;

/**
 * Runs the host of this machine as a process of its own. It is ready once it takes commands at `socket`. `endLeftovers` ends the daemons that
 * a killed host has left running, if no other host is started that would.
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
        // Its output goes where the server's log goes: people read the server's own first lines.
        stdio: ['ignore', 2, 2],
        // Ctrl-C on a terminal is for the supervisor, which ends this one last.
        detached: true,
      }),
    async untilReady(_child, ended) {
      while (!ended.aborted && !(await takesConnections(socket))) await pause(LOOK_MS);
    },
    cleanUp: endLeftovers,
  });
}
