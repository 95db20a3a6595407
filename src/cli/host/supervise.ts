import type { Logger } from 'pino';
import type { Config } from '../../config/config.ts';
import { systemClock } from '../../lib/clock.ts';
import { stopSignal } from '../terminal/stop-signals.ts';
import { startHostBeside } from './beside.ts';
import type { Ending, KeptProcess } from './kept-process.ts';
import { keepServerRunning } from './server-process.ts';
import { unprivilegedAccount } from './unprivileged.ts';

/**
 * Runs the host and the server as child processes until a signal ends this one. Each is restarted when it dies, and neither
 * ends for the other. Then the server ends first, and the host after it. Gives the exit status. Throws OperatorError if one
 * of them ends before it was ever ready. `settings`: the file of `--config`.
 */
export async function supervise(
  config: Config,
  { settings, withHost, log }: { settings: string | undefined; withHost: boolean; log: Logger },
): Promise<number> {
  const kept: KeptProcess[] = [];
  const asked = askedToStop(kept);
  try {
    if (withHost) {
      const host = await startHostBeside(config, { settings, log });
      if (host !== null) kept.unshift(host);
      await Promise.race([host?.ready, asked.promise]);
    }
    if (!asked.isAsked()) {
      const account = await unprivilegedAccount(config, { settings, log });
      const server = keepServerRunning(account, log);
      kept.unshift(server);
      await Promise.race([server.ready, asked.promise]);
      await asked.promise;
    }
    const [ending] = await stopAll(kept);
    return ending === undefined || ending.kind === 'in order' ? 0 : (ending.status ?? 1);
  } finally {
    await stopAll(kept);
  }
}

/** Ends the processes in reverse order. Ended ones are skipped. */
async function stopAll(kept: readonly KeptProcess[]): Promise<Ending[]> {
  const endings: Ending[] = [];
  for (const one of kept) endings.push(await one.stop());
  return endings;
}

/** Resolves at the first signal to stop, and passes later ones to the processes that are still ending. */
function askedToStop(kept: readonly KeptProcess[]) {
  let asked = false;
  const promise = stopSignal('stopping the server, then the websites', {
    signals: process,
    clock: systemClock,
    endAtOnce: () => {
      for (const one of kept) one.signal('SIGTERM');
    },
  }).then(() => {
    asked = true;
  });
  return { promise, isAsked: () => asked };
}
