import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Queries } from '../../../database/database.ts';
import { changeWordPressItem } from '../../backups/jobs.ts';

/** More than can wait at the same time. */
const MOST_LOOKED_AT = 100;

/** The number of changes of plugins and themes of an install that wait or run. */
export async function countUnfinishedChanges(queries: Queries, installId: string): Promise<number> {
  const { count } = await queries
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('lane', '=', installId)
    .where('kind', '=', changeWordPressItem.name)
    .where('state', 'in', ['queued', 'running'])
    .executeTakeFirstOrThrow();
  return Number(count);
}

/**
 * Notes in the operation of a job that the host began to change the website. Nobody sees the note: only operations that succeed show
 * their result.
 */
export async function noteChangeBegun(queries: Queries, jobId: string, checkpointId: string): Promise<void> {
  await queries
    .updateTable('operations')
    .set({ result: JSON.stringify({ checkpoint_id: checkpointId }) })
    .where('job_id', '=', jobId)
    .execute();
}

/** Whether the host began the change of that checkpoint. */
export async function isChangeBegun(
  queries: Queries,
  installId: string,
  checkpointId: string,
): Promise<boolean> {
  const rows = await queries
    .selectFrom('operations')
    .select('result')
    .where('install_id', '=', installId)
    .where('kind', '=', 'wordpress.change')
    .where('result', 'is not', null)
    .orderBy('seq', 'desc')
    .limit(MOST_LOOKED_AT)
    .execute();
  return rows.some(
    ({ result }) => Value.Check(storedResult, result) && result.checkpoint_id === checkpointId,
  );
}

const storedResult = Type.Record(Type.String(), Type.String());

/** The result of a change that succeeded: `id`, `name`, `version`. */
export async function findChangeResult(
  queries: Queries,
  operationId: string,
): Promise<Record<string, string>> {
  const row = await queries
    .selectFrom('operations')
    .select('result')
    .where('id', '=', operationId)
    .executeTakeFirst();
  return Value.Check(storedResult, row?.result) ? row.result : {};
}
