import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Config } from '../config.ts';
import { OperatorError } from '../operator-error.ts';
import { hostSocketOf, takesConnections } from './host-socket.ts';

/** The host process of this machine, run beside the server. */
export interface HostBeside {
  stop(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('../../bin/homeport.mjs', import.meta.url));
const LOOK_MS = 200;

/**
 * In a container there is often one command, root's, and no systemd to run the host: then the server runs it as a process of
 * its own. Null where that is not so, or where a host runs already. `settings`: the file of `--config`. Resolves
 * once it takes commands; throws OperatorError if it ends before.
 */
export async function startHostBeside(
  config: Config,
  settings: string | undefined,
): Promise<HostBeside | null> {
  if (config.host !== 'linux' || process.getuid?.() !== 0 || existsSync('/run/systemd/system')) return null;
  const socket = hostSocketOf(config);
  if (await takesConnections(socket)) return null;
  const child = spawn(
    process.execPath,
    [PROGRAM, ...(settings === undefined ? [] : ['--config', settings]), 'host'],
    // What it says goes where the server's log goes: the server's own first lines are what people read.
    { stdio: ['ignore', 2, 2] },
  );
  const ended = once(child, 'exit');
  while (!(await takesConnections(socket))) {
    const first = await Promise.race([ended, pause(LOOK_MS, null)]);
    if (first !== null) {
      throw new OperatorError('The host of this machine ended before it ran; why is said above.');
    }
  }
  return { stop: () => end(child, ended) };
}

async function end(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await ended;
}
