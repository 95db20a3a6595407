import type { HostMachine } from '../../hosting/contract/host.ts';
import type { Platform } from '../../platform/platform.ts';
import { findAuthority, insertSshHostKey } from './authority-store.ts';
import { createHostService } from './service.ts';

type Machine = Pick<HostMachine, 'describe' | 'readSshHostKey' | 'shareSshHostKey'>;

/**
 * Gives a host the SSH host key of all hosts, so that clients trust a name that leads to several of them. It is the key of the first host, whose
 * users know it. `isFirst`: whether this is that host.
 */
export async function shareHostKey(platform: Platform, machine: Machine, isFirst: boolean): Promise<void> {
  const { sharesSshHostKey = false, sshHostKeys = [] } = await machine.describe();
  const [shown] = sshHostKeys;
  if (!sharesSshHostKey || shown === undefined) return;
  const stored = await storedKey(platform);
  if (stored === null && isFirst) await store(platform, shown, await machine.readSshHostKey());
  if (stored === null || sshHostKeys.includes(stored.publicKey)) return;
  await machine.shareSshHostKey(stored.privateKey);
  await createHostService(platform).note(await machine.describe());
}

async function storedKey({ database, sealer }: Platform) {
  const { ssh_host_key = null, sealed_ssh_host_key = null } = (await findAuthority(database.reader)) ?? {};
  if (ssh_host_key === null || sealed_ssh_host_key === null) return null;
  return { publicKey: ssh_host_key, privateKey: sealer.open(sealed_ssh_host_key) };
}

/** Another process may have stored it. */
async function store({ database, sealer }: Platform, publicKey: string, privateKey: string): Promise<void> {
  const key = { ssh_host_key: publicKey, sealed_ssh_host_key: sealer.seal(privateKey) };
  await database.write(({ queries }) => insertSshHostKey(queries, key));
}
