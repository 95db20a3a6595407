import { connect } from 'node:net';
import { join } from 'node:path';
import type { Config } from '../../config/config.ts';

/** Socket of the host on this machine. */
export function hostSocketOf({ hostRunFolder }: Pick<Config, 'hostRunFolder'>): string {
  return join(hostRunFolder, 'host.sock');
}

/** Whether something listens at a Unix socket. */
export function takesConnections(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}
