import { Value } from 'typebox/value';
import type { Queries } from '../../database/database.ts';
import type { HostQuestions } from '../../hosting/contract/questions.ts';
import type { Platform } from '../../platform/platform.ts';
import type { Sealer } from '../../secrets/sealer.ts';
import { copyInstall, restoreBackup } from '../backups/jobs.ts';
import { findHost, findLoss, payloadsOf, placeOf } from '../hosts/store.ts';
import { createSshLogin } from '../identity/ssh-keys/ssh-login.ts';
import { findDeleted } from './deleted-installs/store.ts';
import { openRebuild } from './lost-hosts/rebuild-store.ts';
import { openMove } from './moves/store.ts';
import { createSshRelays } from './ssh-relays.ts';

/**
 * Answers the questions of one host. Passwords are those of that host's own installs only, so a compromised machine cannot read backups of others.
 * A host that was given up gets no answer.
 */
export function hostQuestions(
  platform: Pick<Platform, 'config' | 'clock' | 'database' | 'sealer'>,
  hostId: string,
): HostQuestions {
  const { database, sealer } = platform;
  const { reader } = database;
  const relays = createSshRelays(platform);
  const sshLogin = createSshLogin(database);
  const isGivenUp = async () => ((await findLoss(reader, hostId))?.lost_at ?? null) !== null;
  const isPresent = async (name: string) => (await findHost(reader, { name }))?.lost_at === null;
  const isHere = async (installId: string) => (await placeOf(reader, installId))?.hostId === hostId;
  return {
    async sshLogin(installName, fingerprintSha256, by) {
      if ((await isGivenUp()) || (by !== undefined && !(await isPresent(by)))) return null;
      const login =
        (await sshLogin(installName, fingerprintSha256)) ??
        (await relays.login(hostId, installName, fingerprintSha256));
      return login !== null && (await isHere(login.install.id)) ? login : null;
    },
    sshRelay: async (installName, fingerprintSha256, pass) =>
      (await isGivenUp()) ? null : relays.relay(hostId, installName, fingerprintSha256, pass),
    async backupPassword(installId) {
      if (await isGivenUp()) throw new Error('this host was given up as lost');
      if (
        (await isHere(installId)) ||
        (await findDeleted(reader, installId))?.host_id === hostId ||
        (await openMove(reader, installId))?.to_host === hostId ||
        (await openRebuild(reader, installId))?.to_host === hostId ||
        (await isRestoredHere(reader, installId, hostId))
      ) {
        return backupPassword(sealer, installId);
      }
      throw new Error(`the install ${installId} is not on this host`);
    },
  };
}

/** Whether a running job restores a backup of `installId`, which is on another host, into an install of this host. */
async function isRestoredHere(queries: Queries, installId: string, hostId: string): Promise<boolean> {
  for (const { name, payload: schema } of [restoreBackup, copyInstall]) {
    for (const payload of await payloadsOf(queries, name, ['running'])) {
      if (!Value.Check(schema, payload) || payload.from_id !== installId) continue;
      if ((await placeOf(queries, payload.install_id))?.hostId === hostId) return true;
    }
  }
  return false;
}

/**
 * The password of an install's backup repository: 256 bits, base64url. It is derived from the sealing key, so an operator with that
 * key can open the backups of a lost machine. One install's password reveals nothing about another's.
 */
export function backupPassword(sealer: Pick<Sealer, 'derive'>, installId: string): string {
  return sealer.derive(`backup:${installId}`);
}
