import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { systemClock } from '../../lib/clock.ts';
import { PROGRAM } from './beside.ts';
import { type KeptProcess, keepProcess } from './kept-process.ts';
import { type Account, commandAs } from './unprivileged.ts';

/** The option with which `serve` serves in its own process, whoever it runs as. */
export const UNSUPERVISED = '--unsupervised';

/**
 * Runs this very command as a child process, as another user if there is one, and starts it again when it dies. It is ready when it says so
 * ({@link tellSupervisor}).
 */
export function keepServerRunning(account: Account | null, log: Logger): KeptProcess {
  const words = [process.execPath, PROGRAM, ...process.argv.slice(2), UNSUPERVISED];
  const { HOME, USER, LOGNAME, ...inherited } = process.env;
  const user =
    account === null
      ? { HOME, USER, LOGNAME }
      : { HOME: account.home, USER: account.name, LOGNAME: account.name };
  const [file, ...args] =
    account === null
      ? (['/usr/bin/setpriv', '--pdeathsig=TERM', '--', ...words] as const)
      : commandAs(account, words);
  return keepProcess({
    name: 'the server',
    start: () =>
      spawn(file, args, {
        stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
        env: { ...inherited, ...user },
        // Ctrl-C on a terminal would reach it twice.
        detached: true,
      }),
    async untilReady(child, ended) {
      await once(child, 'message', { signal: ended }).catch(() => {});
    },
    log,
    clock: systemClock,
  });
}

/** Tells the process that supervises this one, if there is one, that the server is ready. */
export function tellSupervisor(): void {
  process.send?.('ready');
  // The channel would keep this process from ending.
  if (process.connected) process.disconnect();
}
