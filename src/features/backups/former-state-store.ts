import { Value } from 'typebox/value';
import type { Queries } from '../../database/database.ts';
import { PermanentFailure } from '../../jobs/job.ts';
import { restoreBackup, settleImport } from './jobs.ts';
import { type EndedJob, endedReplacements, FINISHED, MissingParts } from './replacements-store.ts';

/** A website that did not get its former state back. */
export interface LostFormerState {
  install_name: string;
  /** The checkpoint. */
  backup_id: string;
  since: string;
  /** Why the return failed; null if it was cancelled. */
  error: string | null;
}

/** The websites whose return to a checkpoint failed after a time and that were not replaced since. */
export async function lostFormerStates(queries: Queries, after: string): Promise<LostFormerState[]> {
  const failed = await queries
    .selectFrom('jobs')
    .select(['lane', 'kind', 'payload', 'state'])
    .where(FINISHED)
    .where('finished_at', '>', after)
    .where('state', 'in', ['failed', 'cancelled'])
    .where('kind', '=', restoreBackup.name)
    .execute();
  const lanes = [...new Set(failed.filter(isFailedReturn).flatMap(({ lane }) => lane ?? []))];
  if (lanes.length === 0) return [];
  const installs = await queries
    .selectFrom('installs')
    .select(['id', 'name'])
    .where('id', 'in', lanes)
    .execute();
  const names = new Map(installs.map(({ id, name }) => [id, name]));
  const lost = new Map<string, LostFormerState & { missing: MissingParts }>();
  for (const { kind, lane, payload, state, error, finished_at } of await endedReplacements(queries, lanes)) {
    const name = names.get(lane ?? '');
    if (lane === null || name === undefined) continue;
    if (isFailedReturn({ kind, payload, state }) && Value.Check(restoreBackup.payload, payload)) {
      const { backup_id } = payload;
      const since = finished_at ?? '';
      lost.set(lane, { install_name: name, backup_id, since, error, missing: new MissingParts() });
    } else if (lost.get(lane)?.missing.isCompleteAfter({ kind, payload, state })) lost.delete(lane);
  }
  return [...lost.values()].map(({ missing: _, ...state }) => state);
}

/**
 * Whether the website was to get its former state back while this job waited, did not, and was not replaced since. Later requests
 * are made by people who can see that.
 */
export async function isFormerStateMissing(
  queries: Queries,
  installId: string,
  jobId: string,
): Promise<boolean> {
  const job = await queries
    .selectFrom('jobs')
    .select('created_at')
    .where('id', '=', jobId)
    .executeTakeFirst();
  if (job === undefined) return false;
  const requestedAt = Date.parse(job.created_at);
  let missing: MissingParts | null = null;
  for (const ended of await endedReplacements(queries, [installId], [settleImport.name])) {
    if (isFailedReturn(ended) && Date.parse(ended.finished_at ?? '') >= requestedAt)
      missing = new MissingParts();
    else if (missing?.isCompleteAfter(ended)) missing = null;
  }
  return missing !== null;
}

/** Requires that a job does not work on a website between two states. Throws PermanentFailure. */
export async function requireFormerState(queries: Queries, installId: string, jobId: string): Promise<void> {
  if (!(await isFormerStateMissing(queries, installId, jobId))) return;
  throw new PermanentFailure(
    'The website could not be returned to its checkpoint after an earlier failure, so nothing was changed. Restore a backup, then request this again.',
    { code: 'not_restored' },
  );
}

/** Cancelled ones count: what waited behind them was not meant for a website between two states either. */
function isFailedReturn({ kind, payload, state }: Pick<EndedJob, 'kind' | 'payload' | 'state'>): boolean {
  if (state === 'succeeded') return false;
  if (kind === settleImport.name) return true;
  return (
    kind === restoreBackup.name && Value.Check(restoreBackup.payload, payload) && payload.puts_back === true
  );
}
