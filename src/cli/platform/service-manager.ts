import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import type { Announce } from '../../lib/start-steps.ts';

const PATH = '/usr/local/bin:/usr/bin:/bin';
const run = promisify(execFile);

/**
 * Tells systemd about the state of this service, sd_notify(3), if systemd has started it with `Type=notify`. Node has no datagram sockets
 * in the file system, so the program of systemd sends the message; its unit needs `NotifyAccess=all`.
 */
export async function notifyServiceManager(
  state: 'READY=1' | 'STOPPING=1' | `STATUS=${string}`,
  log: Logger,
): Promise<void> {
  const { NOTIFY_SOCKET } = process.env;
  if (!NOTIFY_SOCKET) return;
  try {
    // A ready service takes no step.
    const states = state === 'READY=1' ? [state, 'STATUS='] : [state];
    await run('systemd-notify', states, { env: { PATH, NOTIFY_SOCKET } });
  } catch (err) {
    log.error({ err, state }, 'systemd could not be notified about the state of this service');
  }
}

/** Announces the steps of a start as the status of the service; undefined if systemd has not started it with `Type=notify`. */
export const announcing = (log: Logger): Announce | undefined =>
  process.env.NOTIFY_SOCKET ? (step) => notifyServiceManager(`STATUS=${step}`, log) : undefined;
