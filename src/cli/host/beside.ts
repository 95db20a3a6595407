import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { systemClock } from '../../clock.ts';
import type { Config } from '../../config/config.ts';
import { hostSocketOf, takesConnections } from '../host-socket.ts';
import { type HostProcess, keepHostRunning } from './host-process.ts';

export const PROGRAM = fileURLToPath(new URL('../../../bin/homeport.mjs', import.meta.url));

/**
 * In a container there is often one command, root's, and no systemd to run the host: then the server runs it as a process of
 * its own. Null where that is not so, or where a host runs already. `settings`: the file of `--config`. Resolves
 * once it takes commands; throws OperatorError if it ends before.
 */
export async function startHostBeside(
  config: Config,
  { settings, log }: { settings: string | undefined; log: Logger },
): Promise<HostProcess | null> {
  if (config.host !== 'linux' || process.getuid?.() !== 0 || existsSync('/run/systemd/system')) return null;
  const socket = hostSocketOf(config);
  if (await takesConnections(socket)) return null;
  const words = [PROGRAM, ...(settings === undefined ? [] : ['--config', settings]), 'host'];
  return keepHostRunning({
    // A server that is killed cannot end it: then the kernel asks it to.
    command: ['/usr/bin/setpriv', '--pdeathsig=HUP', '--', process.execPath, ...words],
    socket,
    // Loaded here alone: a server is to stay small.
    endLeftovers: async () => (await import('./end-leftovers.ts')).endLeftovers(config, log),
    log,
    clock: systemClock,
  });
}
