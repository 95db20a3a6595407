import type { Queries } from '../../../database/database.ts';
import type { OtherBackups } from '../../backups/reconcile-backups.ts';
import { type Kept, type KeptBackup, newestPresent } from './kept.ts';
import { allDeleted, findDeleted, updateKept } from './store.ts';

/** The backups of deleted installs, for their comparison with what the hosts hold. */
export const keptBackups: OtherBackups = {
  async list(queries, hostId) {
    const deleted = await allDeleted(queries);
    return deleted
      .filter(({ state, host_id }) => state === 'kept' && (hostId === undefined || host_id === hostId))
      .map(({ id, name, host_id, kept }) => ({ id, name, host_id, backups: kept.backups.map(mark) }));
  },

  async noteMissing(queries, installId, backupIds, since) {
    const deleted = await findDeleted(queries, installId);
    // It may have been restored meanwhile.
    if (deleted === undefined) return;
    const backups = deleted.kept.backups.map((backup) =>
      backupIds.includes(backup.id) ? { ...backup, missing_since: since } : backup,
    );
    const kept: Kept = { ...deleted.kept, backups };
    const backup_id = newestPresent(kept)?.id ?? deleted.backup_id;
    await updateKept(queries, installId, { kept, backup_id });
  },
};

const mark = ({ id, missing_since = null }: KeptBackup) => ({ id, missing_since });

/** How many backups of each deleted install are missing. */
export async function missingOfDeleted(queries: Queries): Promise<{ name: string; backups: number }[]> {
  return (await keptBackups.list(queries, undefined)).flatMap(({ name, backups }) => {
    const missing = backups.filter(({ missing_since }) => missing_since !== null).length;
    return missing === 0 ? [] : [{ name: `${name} (deleted)`, backups: missing }];
  });
}
