import { Value } from 'typebox/value';
import type { Queries } from '../../../database/database.ts';
import { adoptWebsiteCopy, discardBackup } from '../jobs.ts';
import { FINISHED } from '../replacements-store.ts';

/** A backup that was made from the copy of a website in a platform backup. */
interface AdoptedBackup {
  id: string;
  install_id: string;
  description: string;
  bytes: number;
  files: number;
  sha256: string;
  /** When the copy was made. */
  created_at: string;
  /** When the host had stored and verified it. */
  finished_at: string;
}

export async function insertAdopted(queries: Queries, backup: AdoptedBackup): Promise<void> {
  await queries
    .insertInto('backups')
    .values({
      ...backup,
      notification_emails: JSON.stringify([]),
      status: 'completed',
      reason: null,
      requested_by: null,
      verified_at: backup.finished_at,
    })
    .execute();
}

/** Whether a copy for an install is being adopted, or waits for it. */
export async function isAdoptionUnfinished(queries: Queries, installId: string): Promise<boolean> {
  const job = await queries
    .selectFrom('jobs')
    .select('id')
    .where('lane', '=', installId)
    .where('kind', '=', adoptWebsiteCopy.name)
    .where('state', 'in', ['queued', 'running'])
    .executeTakeFirst();
  return job !== undefined;
}

/** A backup that its host may hold without a row: its adoption was cancelled or given up after its process had been killed. */
interface LeftBackup {
  id: string;
  install_id: string;
}

/** Such backups of adoptions that have ended since a time, without a deletion that followed. */
export async function leftByAdoptions(queries: Queries, since: string): Promise<LeftBackup[]> {
  const ended = await endedAdoptions(queries).where('finished_at', '>=', since).execute();
  const left = [];
  for (const { seq, payload } of ended) {
    const backup = leftBackup(payload);
    if (backup === null || (await isListed(queries, backup.id))) continue;
    const later = await queries
      .selectFrom('jobs')
      .select('payload')
      .where('lane', '=', backup.install_id)
      .where('kind', '=', discardBackup.name)
      .where('seq', '>', seq)
      .execute();
    const isDiscarded = later.some(
      (job) => Value.Check(discardBackup.payload, job.payload) && job.payload.backup_id === backup.id,
    );
    if (!isDiscarded) left.push(backup);
  }
  return left;
}

/** Whether a backup is one of those. */
export async function isLeftByAdoption(queries: Queries, { id, install_id }: LeftBackup): Promise<boolean> {
  const ended = await endedAdoptions(queries).where('lane', '=', install_id).execute();
  return ended.some(({ payload }) => leftBackup(payload)?.id === id) && !(await isListed(queries, id));
}

function endedAdoptions(queries: Queries) {
  return (
    queries
      .selectFrom('jobs')
      .select(['seq', 'payload'])
      .where('kind', '=', adoptWebsiteCopy.name)
      // The condition of the indexes on finished jobs.
      .where(FINISHED)
      .where('state', '!=', 'succeeded')
      .where('attempt', '>', 0)
  );
}

const leftBackup = (payload: unknown): LeftBackup | null =>
  Value.Check(adoptWebsiteCopy.payload, payload)
    ? { id: payload.backup_id, install_id: payload.install_id }
    : null;

async function isListed(queries: Queries, backupId: string): Promise<boolean> {
  const backup = await queries
    .selectFrom('backups')
    .select('id')
    .where('id', '=', backupId)
    .executeTakeFirst();
  return backup !== undefined;
}
