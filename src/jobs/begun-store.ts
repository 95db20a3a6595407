import type { Queries } from '../database/database.ts';

/** Notes that a job begins to change the website. */
export async function noteBegun(queries: Queries, jobId: string, now: string): Promise<void> {
  await queries
    .updateTable('jobs')
    .set({ begun_at: now })
    .where('id', '=', jobId)
    .where('begun_at', 'is', null)
    .execute();
}

/** Whether a job began to change the website. */
export async function isBegun(queries: Queries, jobId: string): Promise<boolean> {
  const job = await queries.selectFrom('jobs').select('begun_at').where('id', '=', jobId).executeTakeFirst();
  return job !== undefined && job.begun_at !== null;
}

/** Notes that this attempt may change the website. Returns whether an earlier one may have done so. */
export async function noteAttempt(queries: Queries, jobId: string, now: string): Promise<boolean> {
  const wasBegun = await isBegun(queries, jobId);
  await queries.updateTable('jobs').set({ begun_at: now }).where('id', '=', jobId).execute();
  return wasBegun;
}

/** Takes back the note of the attempt that began at `notedAt`, unless another one has begun since. */
export async function takeBackAttempt(queries: Queries, jobId: string, notedAt: string): Promise<void> {
  await queries
    .updateTable('jobs')
    .set({ begun_at: null })
    .where('id', '=', jobId)
    .where('begun_at', '=', notedAt)
    .execute();
}

/** Notes that the website is as it was before the job. */
export async function forgetBegun(queries: Queries, jobId: string): Promise<void> {
  await queries.updateTable('jobs').set({ begun_at: null }).where('id', '=', jobId).execute();
}
