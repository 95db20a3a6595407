import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import { writeDurably } from '../../../lib/durable-file.ts';
import { notAHostKey, protectHostKey } from '../../policy/ssh-host-key.ts';
import { newEd25519KeyFile, publicHalfOfEd25519 } from './ed25519-key-file.ts';

/**
 * The private host key of the SFTP gateway, read from `file`, or created (Ed25519) and stored there.
 *
 * @returns the key in OpenSSH's format
 */
export async function provideHostKey(file: string, log: Logger): Promise<string> {
  if (!(await protectHostKey(file, log))) {
    const made = newEd25519KeyFile();
    await writeDurably(file, made);
    return made;
  }
  const existing = await readFile(file, 'utf8');
  if ((await publicHalfOf(existing)) === null) throw new Error(notAHostKey(file));
  return existing;
}

/** The public half of the key in `file`, `type base64`; null if it cannot be read. */
export async function publicHostKey(file: string): Promise<string | null> {
  return publicHalfOf(await readFile(file, 'utf8').catch(() => ''));
}

async function publicHalfOf(text: string): Promise<string | null> {
  const publicHalf = publicHalfOfEd25519(text);
  if (publicHalf !== null || text.trim() === '') return publicHalf;
  // The operator's own key. The library takes 4 MB, so a start with Homeport's key does without it.
  const { default: ssh2 } = await import('ssh2');
  const key = ssh2.utils.parseKey(text);
  if (key instanceof Error || !key.isPrivateKey()) return null;
  return `${key.type} ${key.getPublicSSH().toString('base64')}`;
}
