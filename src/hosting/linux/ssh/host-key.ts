import { rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from 'pino';
import { replaceAtomically, syncFolder } from '../../../lib/durable-file.ts';
import { CommandError, runCommand } from '../../../lib/run-command.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { notAHostKey, protectHostKey } from '../../policy/ssh-host-key.ts';

/** A private key of this host. */
export interface HostKey {
  file: string;
  /** `type base64`. */
  publicKey: string;
}

/** Files of private keys. `own`: the one that is shown. `shared`: that of the whole fleet, while this host has shown another one. */
export interface HostKeyFiles {
  own: string;
  shared: string;
}

/**
 * The keys of this host, the shown one first. A missing Ed25519 key is made. A file that holds no key is an error and never
 * replaced: clients would take the host for an impostor. An operator who deletes the own key makes the host show that of the fleet.
 */
export async function provideHostKeys({ own, shared }: HostKeyFiles, log: Logger): Promise<HostKey[]> {
  const isShared = await protectHostKey(shared, log);
  if (!(await protectHostKey(own, log))) {
    if (isShared) await moveKey(shared, own);
    else await makeHostKey(own);
  }
  const files = isShared && (await protectHostKey(shared, log)) ? [own, shared] : [own];
  return Promise.all(files.map(async (file) => ({ file, publicKey: await publicHalf(file) })));
}

/** Keeps the private key of the fleet: beside the own one, or with `replaces` in its place. Rejects with a {@link PermanentHostError} for what is no key. */
export async function keepSharedKey(
  key: string,
  { own, shared }: HostKeyFiles,
  replaces: boolean,
): Promise<void> {
  const made = `${shared}.new`;
  await replaceAtomically(made, key);
  try {
    if ((await publicHalf(made)) === (await publicHalf(own))) return;
    await moveKey(made, replaces ? own : shared);
  } finally {
    await rm(made, { force: true });
  }
}

/** `type base64` of a private key. */
async function publicHalf(file: string): Promise<string> {
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
  await moveKey(made, file);
  await rename(`${made}.pub`, `${file}.pub`);
  await syncFolder(dirname(file));
}

/** Nothing reads the public half of a former key. */
async function moveKey(from: string, to: string): Promise<void> {
  await rm(`${to}.pub`, { force: true });
  await rename(from, to);
  await syncFolder(dirname(to));
}
