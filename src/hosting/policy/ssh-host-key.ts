import { chmod, stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import { ifThere } from '../../lib/if-there.ts';

/**
 * Prepares the file of a private SSH host key for reading: removes the permissions of group and others. Returns false if there is no
 * file, so that the caller makes a key. A file without a key is an error ({@link notAHostKey}) and never replaced: SSH clients would warn
 * of an impostor.
 */
export async function protectHostKey(file: string, log: Logger): Promise<boolean> {
  const present = await ifThere(stat(file));
  if (present === null) return false;
  if ((present.mode & 0o077) !== 0) {
    await chmod(file, 0o600);
    log.warn({ file }, 'other users could read the SSH host key; removed their permissions');
  }
  return true;
}

export function notAHostKey(file: string): string {
  return `${file} holds no private SSH key. Put the right one there, or delete the file to get a new one.`;
}
