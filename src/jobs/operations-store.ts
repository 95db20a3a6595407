import type { Queries } from '../database/database.ts';
import { parseUuid } from '../lib/ids.ts';
import type { OperationErrorCode, OperationKind, ProgressUnit } from '../lib/operation.ts';
import { requireResultOf } from '../lib/operation-result.ts';

/** The operation of a job that users see. */
interface NewOperation {
  /** The job's id. */
  id: string;
  /** Undefined: users do not see the job. */
  kind: OperationKind | undefined;
  /** Default: the account of the install. */
  accountId: string | undefined;
  /** Its install; other texts are the names of lanes. */
  installId: string | null;
  /** For a deleted install. */
  installName: string | undefined;
  result: Record<string, string> | undefined;
  createdAt: string;
}

/** Lanes are texts, and those of installs are their ids. */
export function isInstallId(lane: string | null): lane is string {
  return lane !== null && parseUuid(lane) === lane;
}

/** Inserts the operation of a job. A job without account has none. Throws an error for a result of another kind. */
export async function insertOperation(queries: Queries, operation: NewOperation): Promise<void> {
  const { id, kind, createdAt } = operation;
  if (kind === undefined) return;
  if (operation.result !== undefined) requireResultOf(kind, operation.result);
  const owner = await ownerOf(queries, operation);
  if (owner === null) return;
  await queries
    .insertInto('operations')
    .values({
      ...owner,
      id,
      kind,
      job_id: id,
      result: operation.result === undefined ? null : JSON.stringify(operation.result),
      created_at: createdAt,
    })
    .execute();
}

async function ownerOf(
  queries: Queries,
  { accountId, installId, installName }: NewOperation,
): Promise<{ account_id: string; install_id: string | null; install_name: string | null } | null> {
  if (!isInstallId(installId)) {
    return accountId === undefined ? null : { account_id: accountId, install_id: null, install_name: null };
  }
  if (accountId !== undefined && installName !== undefined) {
    return { account_id: accountId, install_id: installId, install_name: installName };
  }
  const install = await queries
    .selectFrom('installs')
    .select(['account_id', 'name'])
    .where('id', '=', installId)
    .executeTakeFirst();
  return install
    ? { account_id: install.account_id, install_id: installId, install_name: install.name }
    : null;
}

/** Makes `jobId` the present job of the operation of `earlierJobId`. */
export async function continueOperation(
  queries: Queries,
  earlierJobId: string,
  jobId: string,
): Promise<void> {
  await queries.updateTable('operations').set({ job_id: jobId }).where('job_id', '=', earlierJobId).execute();
}

/** The present job of an operation; undefined without such an operation. */
export async function presentJobOf(queries: Queries, operationId: string): Promise<string | undefined> {
  const operation = await queries
    .selectFrom('operations')
    .select('job_id')
    .where('id', '=', operationId)
    .executeTakeFirst();
  return operation?.job_id;
}

/**
 * Lets the operation of a job fail although the job does its work, for example if an authority refuses a certificate. Call
 * it in the completion of the job.
 */
export async function failOperation(
  queries: Queries,
  jobId: string,
  { code, message }: { code: OperationErrorCode; message: string },
): Promise<void> {
  await queries
    .updateTable('operations')
    .set({ error_code: code, error_message: message })
    .where('job_id', '=', jobId)
    .execute();
}

/** Lets the operation of a job fail for the job's own reason again, after {@link failOperation}. */
export async function clearFailure(queries: Queries, jobId: string): Promise<void> {
  await queries
    .updateTable('operations')
    .set({ error_code: null, error_message: null })
    .where('job_id', '=', jobId)
    .execute();
}

/** Stores the result of the operation of a job, if it is known only at its end. Call it in the completion of the job. */
export async function setResult(
  queries: Queries,
  jobId: string,
  kind: OperationKind,
  result: Record<string, string>,
): Promise<void> {
  requireResultOf(kind, result);
  await queries
    .updateTable('operations')
    .set({ result: JSON.stringify(result) })
    .where('job_id', '=', jobId)
    .execute();
}

/** How much of an operation is done. */
export interface Progress {
  done: number;
  /** Null until it is known. */
  total: number | null;
  unit: ProgressUnit;
  /** Of work with several steps. */
  step: string | null;
}

/** Finds how much of a job's operation is done; null if it does not report that. */
export async function progressOf(queries: Queries, jobId: string): Promise<Progress | null> {
  const found = await queries
    .selectFrom('operations')
    .select(['progress_done', 'progress_total', 'progress_unit', 'progress_step'])
    .where('job_id', '=', jobId)
    .executeTakeFirst();
  if (found === undefined || found.progress_done === null || found.progress_unit === null) return null;
  const { progress_done: done, progress_total: total, progress_unit: unit, progress_step: step } = found;
  return { done: Number(done), total: total === null ? null : Number(total), unit, step };
}

export async function setProgress(
  queries: Queries,
  jobId: string,
  { done, total, unit, step }: Progress,
): Promise<void> {
  await queries
    .updateTable('operations')
    .set({ progress_done: done, progress_total: total, progress_unit: unit, progress_step: step })
    .where('job_id', '=', jobId)
    .execute();
}
