import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { syncFolder } from '../../../lib/durable-file.ts';
import { CommandError, runCommand } from '../../../lib/run-command.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { notAHostKey, protectHostKey } from '../../policy/ssh-host-key.ts';

/**
 * The private key by which clients recognise this host: an Ed25519 key is made where there is none. A file that holds no key is an
 * error and never replaced: clients would take the host for an impostor.
 *
 * @returns its public half, `type base64`
 */
export async function provideHostKey(file: string, log: Logger): Promise<string> {
  if (!(await protectHostKey(file, log))) await makeHostKey(file);
  try {
    const { stdout } = await runCommand('/usr/bin/ssh-keygen', ['-y', '-P', '', '-f', file]);
    return stdout.trim().split(' ').slice(0, 2).join(' ');
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new PermanentHostError(notAHostKey(file));
  }
}

async function makeHostKey(file: string): Promise<void> {
  const made = `${file}.new`;
  await rm(made, { force: true });
  await rm(`${made}.pub`, { force: true });
  await runCommand('/usr/bin/ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'homeport', '-f', made]);
  await rename(made, file);
  await rename(`${made}.pub`, `${file}.pub`);
  await syncFolder(dirname(file));
}
