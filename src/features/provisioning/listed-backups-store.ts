import type { Queries } from '../../database/database.ts';
import type { ListedBackups } from '../../hosting/contract/backup-places.ts';
import { allDeleted } from './deleted-installs/store.ts';

/** All installs of a host, also deleted ones whose backups are kept, with their listed backups. Those may be missing on the host. */
export async function installsWithBackups(queries: Queries, hostId: string): Promise<ListedBackups[]> {
  const installs = await queries
    .selectFrom('installs')
    .select(['id', 'name'])
    .where('host_id', '=', hostId)
    .orderBy('seq')
    .execute();
  const backups = await queries
    .selectFrom('backups as backup')
    .innerJoin('installs as install', 'install.id', 'backup.install_id')
    .select(['backup.id', 'backup.install_id'])
    .where('install.host_id', '=', hostId)
    .where('backup.status', '=', 'completed')
    .where('backup.deleting', '=', false)
    .execute();
  const ofInstall = Map.groupBy(backups, ({ install_id }) => install_id);
  const present = installs.map(({ id, name }) => ({
    install: { id, name },
    backupIds: (ofInstall.get(id) ?? []).map((backup) => backup.id),
  }));
  const deleted = (await allDeleted(queries)).filter(({ host_id }) => host_id === hostId);
  return [
    ...present,
    ...deleted.map(({ id, name, kept }) => ({
      install: { id, name },
      backupIds: kept.backups.map((backup) => backup.id),
    })),
  ];
}
