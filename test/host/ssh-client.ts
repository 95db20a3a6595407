import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError, runCommand } from '../../src/lib/run-command.ts';
import type { Person } from '../homeport.ts';
import type { FarHost } from './far-host.ts';

/** A user of OpenSSH, who knows one host key for all machines. */
export interface SshUser {
  /** Runs a command as an install. What it prints, or its status and message if it fails. */
  run(host: FarHost, name: string, command: string): Promise<string>;
}

/** Makes a key of this person. `folder`: for files. */
export async function sshUser(person: Person, folder: string): Promise<SshUser> {
  const own = await mkdtemp(join(folder, 'ssh-'));
  const [key, known] = [join(own, 'key'), join(own, 'known_hosts')];
  await runCommand('/usr/bin/ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key]);
  await person.client.post('/ssh_keys', { public_key: await readFile(`${key}.pub`, 'utf8') });
  const options = [
    ...['IdentitiesOnly=yes', 'BatchMode=yes', 'LogLevel=ERROR', `UserKnownHostsFile=${known}`],
    // The first connection learns the key; another key is refused.
    ...['HostKeyAlias=platform', 'StrictHostKeyChecking=accept-new'],
  ].flatMap((option) => ['-o', option]);
  return {
    async run({ namespace }, name, command) {
      const to = ['-p', '22', `${name}@${namespace.address}`, command];
      try {
        const { stdout } = await runCommand('/usr/bin/ssh', ['-F', 'none', '-i', key, ...options, ...to]);
        return stdout;
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        return `${error.status} ${error.stderr}`;
      }
    },
  };
}
