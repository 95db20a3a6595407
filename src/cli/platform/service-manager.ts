import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Logger } from 'pino';

const PATH = '/usr/local/bin:/usr/bin:/bin';
const run = promisify(execFile);

/**
 * Tells systemd about the state of this service, sd_notify(3), if systemd has started it with `Type=notify`. Node has no datagram sockets
 * in the file system, so the program of systemd sends the message; its unit needs `NotifyAccess=all`.
 */
export async function notifyServiceManager(state: 'READY=1' | 'STOPPING=1', log: Logger): Promise<void> {
  const { NOTIFY_SOCKET } = process.env;
  if (!NOTIFY_SOCKET) return;
  try {
    await run('systemd-notify', [state], { env: { PATH, NOTIFY_SOCKET } });
  } catch (err) {
    log.error({ err, state }, 'systemd could not be notified about the state of this service');
  }
}
