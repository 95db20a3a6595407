import type { Queries } from '../database/database.ts';
import type { WorkerParts } from '../jobs/worker.ts';
import type { Platform } from '../platform/platform.ts';
import type { EndedOperation, Measurements } from './measurements.ts';

/** Measures the attempts of a worker's jobs and the operations that they end. */
export function measuredWork(
  { database, log }: Pick<Platform, 'database' | 'log'>,
  { attempt, operation }: Pick<Measurements, 'attempt' | 'operation'>,
): Required<Pick<WorkerParts, 'onEnded' | 'onSettled'>> {
  return {
    onEnded: attempt,
    async onSettled(jobId) {
      try {
        const ended = await endedOperation(database.reader, jobId);
        if (ended !== undefined) operation(ended);
      } catch (err) {
        log.warn({ err, job: jobId }, 'could not measure an operation');
      }
    },
  };
}

/** The operation that a job has ended. Undefined if the job is part of none, will be repeated, or another job goes on with its operation. */
async function endedOperation(queries: Queries, jobId: string): Promise<EndedOperation | undefined> {
  const row = await queries
    .selectFrom('operations as operation')
    .innerJoin('jobs as job', 'job.id', 'operation.job_id')
    .select([
      'operation.kind',
      'operation.error_code',
      'operation.created_at',
      'job.state',
      'job.finished_at',
    ])
    .where('operation.job_id', '=', jobId)
    .where('job.finished_at', 'is not', null)
    .executeTakeFirst();
  if (row === undefined || row.finished_at === null) return undefined;
  return {
    kind: row.kind,
    // The job did its work, and the operation failed all the same.
    status: row.error_code === null ? row.state : 'failed',
    seconds: (Date.parse(row.finished_at) - Date.parse(row.created_at)) / 1000,
  };
}
