import { Value } from 'typebox/value';
import type { Queries } from '../../database/database.ts';
import {
  changeWordPressItem,
  copyInstall,
  createArchive,
  importWebsite,
  prepareCopy,
  restoreBackup,
} from './jobs.ts';

/** The jobs that read a backup. */
const USES = [restoreBackup, prepareCopy, copyInstall, importWebsite, createArchive, changeWordPressItem];

/** Whether an unfinished job restores, copies or packs a backup. */
export async function isInUse(queries: Queries, backupId: string): Promise<boolean> {
  const jobs = await queries
    .selectFrom('jobs')
    .select(['kind', 'payload'])
    .where('state', 'in', ['queued', 'running'])
    .where(
      'kind',
      'in',
      USES.map(({ name }) => name),
    )
    .execute();
  return jobs.some(({ kind, payload }) => {
    const type = USES.find(({ name }) => name === kind);
    return (
      type !== undefined &&
      Value.Check(type.payload, payload) &&
      (('backup_id' in payload && payload.backup_id === backupId) ||
        ('checkpoint_id' in payload && payload.checkpoint_id === backupId))
    );
  });
}

/** Whether a backup is the checkpoint of an update that has not ended. */
export async function isOfRunningUpdate(queries: Queries, backupId: string): Promise<boolean> {
  const update = await queries
    .selectFrom('wordpress_updates')
    .select('id')
    .where('checkpoint_id', '=', backupId)
    .where('status', '=', 'running')
    .executeTakeFirst();
  return update !== undefined;
}
