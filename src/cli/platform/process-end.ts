import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';

/** For what is closing anyway, such as sockets whose last bytes are being sent. */
const CLOSING_MS = 1_000;

/** CommonJS, because only that can be given as text. */
const KILL = `
const { writeSync } = require('node:fs');
const { workerData: { afterMs, message } } = require('node:worker_threads');
setTimeout(() => {
  try {
    writeSync(2, message);
  } finally {
    process.kill(process.pid, 'SIGKILL');
  }
}, afterMs);
`;

/**
 * Kills this process after `afterMs`, unless it has ended by then. A thread of its own does it, because a step of a stop can keep this
 * thread busy, and every timer with it.
 */
export function killAfter(afterMs: number, log: Logger): void {
  const message = `homeport: the stop did not end within ${afterMs / 1_000} s, so the process was killed\n`;
  const killer = new Worker(KILL, { eval: true, workerData: { afterMs, message }, execArgv: [] });
  killer.unref();
  killer.on('error', (err) =>
    log.error({ err }, 'nothing limits the stop, because no thread can be started'),
  );
}

/** Ends this process, whose work is done, if something that was not closed keeps it alive. The log names that. */
export function endSoon(log: Logger): void {
  setTimeout(() => {
    log.warn({ open: process.getActiveResourcesInfo() }, 'ended although something was still open');
    process.exit();
  }, CLOSING_MS).unref();
}
