import Type from 'typebox';
import { Value } from 'typebox/value';
import type { Queries } from '../../../database/database.ts';
import { importWebsite } from '../jobs.ts';

/** Whether an import into an install waits or runs. */
export async function isImportUnfinished(queries: Queries, installId: string): Promise<boolean> {
  const job = await queries
    .selectFrom('jobs')
    .select('id')
    .where('lane', '=', installId)
    .where('kind', '=', importWebsite.name)
    .where('state', 'in', ['queued', 'running'])
    .executeTakeFirst();
  return job !== undefined;
}

const storedResult = Type.Object({ left_out: Type.Optional(Type.String()) });

/** The parts of its archive that a successful import left out, as a text; null if it left out nothing. */
export async function findLeftOut(queries: Queries, jobId: string): Promise<string | null> {
  const { result } = await queries
    .selectFrom('operations')
    .select('result')
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  return Value.Check(storedResult, result) ? (result.left_out ?? null) : null;
}
