import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Queries } from '../database/database.ts';
import type { OperationKind } from '../lib/operation.ts';
import { setResult } from './operations-store.ts';

const texts = Type.Record(Type.String(), Type.String());
const warned = Type.Object({ warning: Type.String() });

/** Adds a warning to the result of the operation of a job that succeeds. Call it in the completion of the job. */
export async function addWarning(
  queries: Queries,
  jobId: string,
  kind: OperationKind,
  warning: string | undefined,
): Promise<void> {
  if (warning === undefined) return;
  const operation = await queries
    .selectFrom('operations')
    .select('result')
    .where('job_id', '=', jobId)
    .executeTakeFirst();
  if (operation === undefined) return;
  const result = Value.Parse(texts, operation.result ?? {});
  await setResult(queries, jobId, kind, { ...result, warning });
}

/** The warning of an operation that has succeeded; null without one. */
export async function warningOf(queries: Queries, operationId: string): Promise<string | null> {
  const found = await queries
    .selectFrom('operations')
    .select('result')
    .where('id', '=', operationId)
    .executeTakeFirst();
  return Value.Check(warned, found?.result) ? found.result.warning : null;
}
