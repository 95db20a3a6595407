import { Value } from 'typebox/value';
import type { Queries } from '../../../database/database.ts';
import { clearFailure, failOperation } from '../../../jobs/operations-store.ts';
import { parseErrorCode } from '../../../lib/operation.ts';
import { importWebsite, settleImport } from '../jobs.ts';
import { endedReplacements, FINISHED, MissingParts } from '../replacements-store.ts';

/** An ended import, of which the host has not said whether it had replaced the website. */
export interface UnsettledImport {
  install_id: string;
  install_name: string;
  import_id: string;
  checkpoint_id: string;
  /** When the first settlement was given up. */
  since: string;
  /** Why the last one was. */
  error: string | null;
}

const UNSETTLED =
  'The host could not say whether the import had replaced the website, so the checkpoint was not put back. Look at the website, and restore the checkpoint if it is not the former one.';

/**
 * The imports whose settlement was given up, last after a time, if no settlement waits or runs and nothing else has replaced the
 * whole website, at once or in parts.
 */
export async function unsettledImports(queries: Queries, after: string): Promise<UnsettledImport[]> {
  const failed = await queries
    .selectFrom('jobs')
    .select('lane')
    .distinct()
    .where(FINISHED)
    .where('finished_at', '>', after)
    .where('state', '=', 'failed')
    .where('kind', '=', settleImport.name)
    .execute();
  const lanes = failed.flatMap(({ lane }) => lane ?? []);
  if (lanes.length === 0) return [];
  // A settlement overtakes what waits, so the order is that of their ends.
  const ended = await endedReplacements(queries, lanes, [settleImport.name]);
  const unfinished = await queries
    .selectFrom('jobs')
    .select(['kind', 'lane', 'payload', 'state', 'error', 'finished_at'])
    .where('lane', 'in', lanes)
    .where('kind', '=', settleImport.name)
    .where('state', 'in', ['queued', 'running'])
    .execute();
  const installs = await queries
    .selectFrom('installs')
    .select(['id', 'name'])
    .where('id', 'in', lanes)
    .execute();
  const names = new Map(installs.map(({ id, name }) => [id, name]));
  const found = new Map<string, UnsettledImport & { missing: MissingParts }>();
  for (const job of [...ended, ...unfinished]) {
    const { lane, payload } = job;
    if (job.kind !== settleImport.name) {
      for (const [id, { install_id, missing }] of found) {
        if (install_id === lane && missing.isCompleteAfter(job)) found.delete(id);
      }
      continue;
    }
    const name = names.get(lane ?? '');
    if (name === undefined || !Value.Check(settleImport.payload, payload)) continue;
    const { import_id } = payload;
    const known = found.get(import_id);
    if (job.state === 'failed') {
      const since = known?.since ?? job.finished_at ?? '';
      const missing = known?.missing ?? new MissingParts();
      found.set(import_id, { ...payload, install_name: name, since, error: job.error, missing });
    } else found.delete(import_id);
  }
  return [...found.values()].map(({ missing: _, ...unsettled }) => unsettled);
}

/** Says in the operation of an import that it is unsettled, or no longer. */
export async function noteSettlement(
  queries: Queries,
  { install_id, import_id }: Pick<UnsettledImport, 'install_id' | 'import_id'>,
  isSettled: boolean,
): Promise<void> {
  const jobs = await queries
    .selectFrom('jobs')
    .select(['id', 'payload', 'reason', 'reason_code'])
    .where('lane', '=', install_id)
    .where('kind', '=', importWebsite.name)
    .where(FINISHED)
    .execute();
  const job = jobs.find(
    ({ payload }) => Value.Check(importWebsite.payload, payload) && payload.import_id === import_id,
  );
  if (job === undefined) return;
  if (isSettled) return clearFailure(queries, job.id);
  const reason = job.reason ?? 'The import was cancelled.';
  await failOperation(queries, job.id, {
    code: parseErrorCode(job.reason_code),
    message: `${reason} ${UNSETTLED}`,
  });
}
