import { readFile } from 'node:fs/promises';
import type { Logger } from 'pino';
import ssh2 from 'ssh2';
import { writeDurably } from '../../../lib/durable-file.ts';
import { notAHostKey, protectHostKey } from '../../policy/ssh-host-key.ts';

/**
 * The private host key of the SFTP gateway, read from `file`, or created (Ed25519) and stored there.
 *
 * @returns the key in OpenSSH's format
 */
export async function provideHostKey(file: string, log: Logger): Promise<string> {
  if (!(await protectHostKey(file, log))) {
    const made = newKey();
    await writeDurably(file, made);
    return made;
  }
  const existing = await readFile(file, 'utf8');
  const key = ssh2.utils.parseKey(existing);
  if (key instanceof Error || !key.isPrivateKey()) throw new Error(notAHostKey(file));
  return existing;
}

/** The public half of the key in `file`, `type base64`; null if it cannot be read. */
export async function publicHostKey(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const key = ssh2.utils.parseKey(text);
  return key instanceof Error ? null : `${key.type} ${key.getPublicSSH().toString('base64')}`;
}

/** About one in 200 keys that ssh2 1.17 generates cannot be parsed, so this retries. */
function newKey(): string {
  const made = ssh2.utils.generateKeyPairSync('ed25519').private;
  return ssh2.utils.parseKey(made) instanceof Error ? newKey() : made;
}
