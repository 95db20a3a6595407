import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Logger } from 'pino';
import { systemClock } from '../../lib/clock.ts';
import { PROGRAM } from './beside.ts';
import { type KeptProcess, keepProcess } from './kept-process.ts';
import { type Account, commandAs } from './unprivileged.ts';

/** Option that makes `serve` run the server in its process, as any user. */
export const UNSUPERVISED = '--unsupervised';

/**
 * Runs this command as a child process, as another user if given, and restarts it when it ends. It reports its readiness with
 * {@link tellSupervisor}.
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
        // A new process group, because Ctrl-C would reach it twice.
        detached: true,
      }),
    async untilReady(child, ended) {
      await once(child, 'message', { signal: ended }).catch(() => {});
    },
    log,
    clock: systemClock,
  });
}

/** Reports to a supervisor that the server is ready. */
export function tellSupervisor(): void {
  process.send?.('ready');
  // An open channel keeps the process alive.
  if (process.connected) process.disconnect();
}
