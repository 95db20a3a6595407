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

/**
 * Whether another restore or copy waits for its turn on an install. An import may be refused, and then replaces nothing.
 */
export async function isReplacementQueued(queries: Queries, installId: string): Promise<boolean> {
  const job = await queries
    .selectFrom('jobs')
    .select('id')
    .where('lane', '=', installId)
    .where('state', '=', 'queued')
    .where('kind', 'in', [restoreBackup.name, copyInstall.name])
    .executeTakeFirst();
  return job !== undefined;
}

/** The ids of the jobs that wait to put a checkpoint of an install back. */
export async function queuedPutBacks(queries: Queries, installId: string): Promise<string[]> {
  const jobs = await queries
    .selectFrom('jobs')
    .select(['id', 'payload'])
    .where('lane', '=', installId)
    .where('state', '=', 'queued')
    .where('kind', '=', restoreBackup.name)
    .execute();
  return jobs
    .filter(({ payload }) => Value.Check(restoreBackup.payload, payload) && payload.puts_back === true)
    .map(({ id }) => id);
}
