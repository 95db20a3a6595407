import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { messageOf } from '../../lib/error-message.ts';
import { OperatorError } from '../../lib/operator-error.ts';

/** An empty file for the identity of a host. */
export interface IdentityFile {
  path: string;
  write(identity: string): Promise<void>;
}

/** Creates the file before the identity, so that no identity is lost. Throws OperatorError. */
export async function createIdentityFile(name: string): Promise<IdentityFile> {
  const path = resolve(name);
  const file = await open(path, 'wx', 0o600).catch((cause: unknown) => {
    const exists = cause instanceof Error && 'code' in cause && cause.code === 'EEXIST';
    throw new OperatorError(
      exists
        ? `${path} exists already. Remove it, or name another file with --out.`
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

/** The next steps on the machine of the identity. */
export function whatToDoWith(path: string, address: string): string {
  const { port } = new URL(address);
  return [
    'Next, on that machine (Debian):',
    `  1. copy ${path} there as /etc/homeport/host.pem, readable for root only; then delete it here`,
    '  2. sudo HOMEPORT_HOST_IDENTITY=/etc/homeport/host.pem \\',
    `         HOMEPORT_HOST_LISTEN=0.0.0.0:${port || '443'} homeport host setup`,
    '',
    'If that machine was set up before, write the two settings into its /etc/homeport/homeport.conf instead, and restart',
    'homeport-host. Without systemd, start "homeport host" there with the same two settings. "homeport host list" shows',
    'when it answers. Allow only this machine to reach that port.',
    '',
  ].join('\n');
}
