import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Queries } from '../../../database/database.ts';
import { changeWordPressItem } from '../../backups/jobs.ts';

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
