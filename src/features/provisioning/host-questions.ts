import { Value } from 'typebox/value';
import type { Queries } from '../../database/database.ts';
import type { HostQuestions } from '../../hosting/contract/host.ts';
import type { Platform } from '../../platform/platform.ts';
import { copyInstall, restoreBackup } from '../backups/jobs.ts';
import { backupPassword } from '../backups/password.ts';
import { payloadsOf, placeOf } from '../hosts/store.ts';
import { createSshLogin } from '../identity/ssh-keys/ssh-login.ts';

/** Answers a host, and of its own installs alone: one machine that is broken into tells nothing of the others. */
export function hostQuestions(
  { database, sealer }: Pick<Platform, 'database' | 'sealer'>,
  hostId: string,
): HostQuestions {
  const { reader } = database;
  const sshLogin = createSshLogin(database);
  const isHere = async (installId: string) => (await placeOf(reader, installId))?.hostId === hostId;
  return {
    async sshLogin(installName, fingerprintSha256) {
      const login = await sshLogin(installName, fingerprintSha256);
      return login !== null && (await isHere(login.install.id)) ? login : null;
    },
    async backupPassword(installId) {
      if ((await isHere(installId)) || (await isRestoredHere(reader, installId, hostId))) {
        return backupPassword(sealer, installId);
      }
      throw new Error(`the install ${installId} is not on this host`);
    },
  };
}

/** Whether an install of this host is just being made what a backup of `installId`, which is on another, has. */
async function isRestoredHere(queries: Queries, installId: string, hostId: string): Promise<boolean> {
  for (const { name, payload: schema } of [restoreBackup, copyInstall]) {
    for (const payload of await payloadsOf(queries, name, ['running'])) {
      if (!Value.Check(schema, payload) || payload.from_id !== installId) continue;
      if ((await placeOf(queries, payload.install_id))?.hostId === hostId) return true;
    }
  }
  return false;
}
