import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../../lib/error-message.ts';
import { OperatorError } from '../../lib/operator-error.ts';

/** A file that is there, and empty, for the identity of a host. */
export interface IdentityFile {
  path: string;
  write(identity: string): Promise<void>;
}

/** Makes it before anything else is done, so that no identity is made that cannot be kept. Throws OperatorError. */
export async function createIdentityFile(name: string): Promise<IdentityFile> {
  const path = resolve(name);
  const file = await open(path, 'wx', 0o600).catch((cause: unknown) => {
    const exists = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST';
    throw new OperatorError(
      exists
        ? `${path} is there already. Take it away, or name another file with --out.`
        : `${path} cannot be written: ${messageOf(cause)}.`,
      { cause },
    );
  });
  return {
    path,
    async write(identity) {
      try {
        await file.writeFile(identity);
        await file.sync();
      } finally {
        await file.close();
      }
    },
  };
}

/** What to do with it on the machine that it is for. */
export function whatToDoWith(path: string, address: string): string {
  const { port } = new URL(address);
  return [
    'Next, on that machine (Debian):',
    `  1. bring ${path} there, as /etc/homeport/host.pem, for root alone; then delete it here`,
    '  2. sudo HOMEPORT_HOST_IDENTITY=/etc/homeport/host.pem \\',
    `         HOMEPORT_HOST_LISTEN=0.0.0.0:${port || '443'} npm run host:setup`,
    '',
    'If that machine was set up before, write the two settings into its /etc/homeport/homeport.conf instead, and restart',
    'homeport-host. Without systemd, start "npx homeport host" there with the same two settings. "homeport host list" shows',
    'when it answers; let nobody but this machine reach that port.',
    '',
  ].join('\n');
}
