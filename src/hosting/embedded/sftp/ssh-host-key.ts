import { chmod, readFile, stat } from 'node:fs/promises';
import type { Logger } from 'pino';
import ssh2 from 'ssh2';
import { writeDurably } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';

/**
 * The private key by which clients recognise the gateway: read from `file`, or made (ed25519) and kept there if there
 * is none. A file that holds no key is an error and never replaced: clients would take the gateway for an impostor.
 *
 * @returns the key in OpenSSH's format
 */
export async function provideHostKey(file: string, log: Logger): Promise<string> {
  const existing = await ifThere(readFile(file, 'utf8'));
  if (existing === null) {
    const made = newKey();
    await writeDurably(file, made);
    return made;
  }
  const key = ssh2.utils.parseKey(existing);
  if (key instanceof Error || !key.isPrivateKey()) {
    throw new Error(
      `${file} holds no private SSH key. Put the right one there, or delete the file to get a new one.`,
    );
  }
  const { mode } = await stat(file);
  if ((mode & 0o077) !== 0) {
    await chmod(file, 0o600);
    log.warn({ file }, 'others could read the SSH host key; they cannot any more');
  }
  return existing;
}

/** The public half of the key in `file`, `type base64`; null if there is none that can be read. */
export async function publicHostKey(file: string): Promise<string | null> {
  const text = await readFile(file, 'utf8').catch(() => '');
  const key = ssh2.utils.parseKey(text);
  return key instanceof Error ? null : `${key.type} ${key.getPublicSSH().toString('base64')}`;
}

/** ssh2 1.17 writes about one key in two hundred so that nothing can read it; such a one is made again. */
function newKey(): string {
  const made = ssh2.utils.generateKeyPairSync('ed25519').private;
  return ssh2.utils.parseKey(made) instanceof Error ? newKey() : made;
}
