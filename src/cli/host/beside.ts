import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import { systemClock } from '../../lib/clock.ts';
import { hasSystemd } from '../../lib/has-systemd.ts';
import { hostSocketOf, takesConnections } from '../platform/host-socket.ts';
import { keepHostRunning } from './host-process.ts';
import type { KeptProcess } from './kept-process.ts';
import { recordSupervisor, supervisorHasEnded } from './supervisor-record.ts';

const LOOK_MS = 200;

export const PROGRAM = fileURLToPath(new URL('../../../bin/homeport.mjs', import.meta.url));

/** Without systemd, as in a container, one process of root supervises the host and the server. */
export function supervisesHere(config: Config): boolean {
  return config.host === 'linux' && process.getuid?.() === 0 && !hasSystemd();
}

/**
 * Starts the host of this machine as a child process. Null if a host runs already. `settings`: the file of `--config`.
 */
export async function startHostBeside(
  config: Config,
  { settings, log }: { settings: string | undefined; log: Logger },
): Promise<KeptProcess | null> {
  const socket = hostSocketOf(config);
  if (await takesConnections(socket)) {
    if (!(await supervisorHasEnded(config))) return null;
    log.warn('the host of a supervisor that was killed is still ending; the next one starts after it');
    while (await takesConnections(socket)) await pause(LOOK_MS);
  }
  await recordSupervisor(config);
  const words = [PROGRAM, ...(settings === undefined ? [] : ['--config', settings]), 'host'];
  return keepHostRunning({
    // If the supervisor is killed, the kernel signals it.
    command: ['/usr/bin/setpriv', '--pdeathsig=HUP', '--', process.execPath, ...words],
    socket,
    // Loaded late, to keep the supervisor small.
    endLeftovers: async () => (await import('./end-leftovers.ts')).endLeftovers(config, log),
    log,
    clock: systemClock,
  });
}
