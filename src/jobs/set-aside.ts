import type { Queries, Transaction } from '../database/database.ts';
import { InvalidRequest } from '../lib/failures.ts';
import { isOccupied } from './lanes.ts';
import { clearFailure, isInstallId } from './operations-store.ts';

/** A job that is not tried again because processes died while it ran. */
export interface SetAsideJob {
  id: string;
  kind: string;
  /** The name of its install; null for jobs of no single install, and if it is deleted. */
  install: string | null;
  /** ISO 8601. */
  set_aside_at: string;
  /** The processes that died, and when. One line. */
  error: string | null;
  is_repeatable: boolean;
}

/** Lists the jobs that are set aside, the latest first. */
export async function listSetAside(queries: Queries): Promise<SetAsideJob[]> {
  const rows = await queries
    .selectFrom('set_aside_jobs')
    .innerJoin('jobs', 'jobs.id', 'set_aside_jobs.job_id')
    .select(['jobs.id', 'kind', 'lane', 'error', 'set_aside_at', 'is_repeatable'])
    .orderBy('set_aside_at', 'desc')
    .orderBy('jobs.seq', 'desc')
    .execute();
  const jobs: SetAsideJob[] = [];
  for (const { lane, ...job } of rows) jobs.push({ ...job, install: await installOf(queries, job.id, lane) });
  return jobs;
}

async function installOf(queries: Queries, jobId: string, lane: string | null): Promise<string | null> {
  const operation = await queries
    .selectFrom('operations')
    .select('install_name')
    .where('job_id', '=', jobId)
    .executeTakeFirst();
  if (operation !== undefined || !isInstallId(lane)) return operation?.install_name ?? null;
  const install = await queries
    .selectFrom('installs')
    .select('name')
    .where('id', '=', lane)
    .executeTakeFirst();
  return install?.name ?? null;
}

/** Records that a job is set aside, in the transaction that ends it. */
export async function setAside(
  queries: Queries,
  job: { id: string; work: string; isRepeatable: boolean; now: string },
): Promise<void> {
  await queries
    .insertInto('set_aside_jobs')
    .values({ job_id: job.id, work: job.work, set_aside_at: job.now, is_repeatable: job.isRepeatable })
    .execute();
}

/**
 * Returns a job that was set aside to the queue. It runs alone at first, and one more death is enough. Throws
 * InvalidRequest for other jobs, and for those whose work must be requested anew.
 */
export async function retrySetAside(transaction: Transaction, id: string, now: string): Promise<SetAsideJob> {
  const { queries } = transaction;
  const job = await requireSetAside(queries, id);
  if (!job.is_repeatable) {
    throw new InvalidRequest(
      `${id} (${job.kind}) cannot run again, because its effects were undone when it was set aside. ` +
        `Request the work again. "homeport job drop ${id}" takes this job off the list.`,
    );
  }
  const deaths = await queries
    .selectFrom('job_deaths')
    .select('worker_id')
    .where('job_id', '=', id)
    .orderBy('died_at', 'desc')
    .execute();
  for (const { worker_id } of deaths.slice(1)) {
    await queries
      .deleteFrom('job_deaths')
      .where('job_id', '=', id)
      .where('worker_id', '=', worker_id)
      .execute();
  }
  await queries.updateTable('job_deaths').set({ died_at: now }).where('job_id', '=', id).execute();
  await queries
    .updateTable('jobs')
    .set((eb) => ({
      state: 'queued',
      attempt: 0,
      run_at: now,
      behind: eb
        .case()
        .when('lane', 'is', null)
        .then(false)
        .else(isOccupied(eb, eb.ref('lane')))
        .end(),
      called_off: false,
      worker_id: null,
      finished_at: null,
    }))
    .where('id', '=', id)
    .execute();
  await clearFailure(queries, id);
  await queries.deleteFrom('set_aside_jobs').where('job_id', '=', id).execute();
  return job;
}

/** Takes a job off the list of those set aside. The same work may be tried at once if it is requested again. Throws InvalidRequest. */
export async function dropSetAside({ queries }: Transaction, id: string): Promise<SetAsideJob> {
  const job = await requireSetAside(queries, id);
  const { work } = await queries
    .deleteFrom('set_aside_jobs')
    .where('job_id', '=', id)
    .returning('work')
    .executeTakeFirstOrThrow();
  await queries.deleteFrom('job_deaths').where('work', '=', work).execute();
  return job;
}

async function requireSetAside(queries: Queries, id: string): Promise<SetAsideJob> {
  const job = (await listSetAside(queries)).find((one) => one.id === id);
  if (job === undefined) {
    throw new InvalidRequest(`No job ${id} is set aside; "homeport job list" shows those that are.`);
  }
  return job;
}
