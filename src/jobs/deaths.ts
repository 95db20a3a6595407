import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Queries, Transaction } from '../database/database.ts';
import type { JobState } from '../database/tables/jobs.ts';
import { DAY_MS, HOUR_MS } from '../lib/durations.ts';
import { PermanentFailure } from './job.ts';
import type { ClaimedJob, LapsedJob } from './leases.ts';

/**
 * Jobs that run when the process of their worker dies. Each of them may be the cause, so all are suspects. A suspect runs
 * alone for its first minute; if the process dies again, the job is set aside (docs/decisions/jobs.md).
 */

/** Deaths that prove nothing any more. */
const FORGOTTEN_AFTER_MS = DAY_MS;
/** How long the same work is refused after a job was set aside. Then it is tried once more. */
const HELD_MS = 6 * HOUR_MS;
/** Deaths that set a job aside, if no other job can have been the cause of the last one. */
const ENOUGH = 2;
/** Deaths that set a job aside in any case. */
const ENOUGH_IN_ANY_CASE = 3;

const running = sql.lit<JobState>('running');

/** A work that ran when processes died. */
interface Suspicion {
  /** Deaths within the last day. */
  deaths: number;
  /** It is not tried before. Milliseconds since the epoch; 0 if no job was set aside for it. */
  heldUntil: number;
}

/** By work. */
export type Suspicions = ReadonlyMap<string, Suspicion>;

/** The failure of a job that is set aside, or whose work was set aside a short time before. */
export class SetAside extends PermanentFailure {
  readonly work: string;
  /** It never ran, as the same work is set aside. */
  readonly isHeld: boolean;
  constructor(work: string, options: { isHeld: boolean; cause?: Error }) {
    super(
      options.isHeld
        ? 'The server stopped each time the same work ran before, so it is not tried now. Contact your provider.'
        : 'The server stopped each time this ran, so it is not tried again. Contact your provider.',
      { code: 'set_aside', ...(options.cause === undefined ? {} : { cause: options.cause }) },
    );
    this.work = work;
    this.isHeld = options.isHeld;
  }
}

/** Jobs of one kind, lane and payload do the same work: what ended the process for one does so for the next. */
export function workOf({ kind, lane, payload }: Pick<ClaimedJob, 'kind' | 'lane' | 'payload'>): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([lane, payload]))
    .digest('base64url');
  return `${kind} ${digest}`;
}

/** Finds every work that is under suspicion. `now`: milliseconds since the epoch. */
export async function findSuspicions(queries: Queries, now: number): Promise<Suspicions> {
  const deaths = await queries
    .selectFrom('job_deaths')
    .select((eb) => ['work', eb.fn.countAll<number>().as('deaths')])
    .where('died_at', '>', new Date(now - FORGOTTEN_AFTER_MS).toISOString())
    .groupBy('work')
    .execute();
  const setAside = await queries
    .selectFrom('set_aside_jobs')
    .select((eb) => ['work', eb.fn.max('set_aside_at').as('at')])
    .groupBy('work')
    .execute();
  const found = new Map<string, Suspicion>();
  for (const { work, deaths: count } of deaths) {
    found.set(work, { deaths: Number(count), heldUntil: 0 });
  }
  for (const { work, at } of setAside) {
    found.set(work, { deaths: found.get(work)?.deaths ?? 0, heldUntil: Date.parse(at) + HELD_MS });
  }
  return found;
}

/**
 * Counts the death of a worker's process for a job whose lease lapsed. Returns null unless it died: workers that stop in order
 * say so, and those that live go on with their heartbeats after they lost the job. Otherwise returns why the job is
 * set aside, or `suspect`.
 */
export async function countDeath(
  { queries, dialect }: Transaction,
  { job, lease, startedAt, leaseUntil }: LapsedJob,
  { leaseMs, now }: { leaseMs: number; now: number },
): Promise<SetAside | 'suspect' | null> {
  const worker = await queries
    .selectFrom('workers')
    .select(['process', 'seen_at', 'stopping'])
    .where('id', '=', lease.workerId)
    .executeTakeFirst();
  if (worker === undefined || worker.stopping) return null;
  // A heartbeat renews all leases, so the last one of a dead worker was a whole lease before.
  if (Date.parse(worker.seen_at) > Date.parse(leaseUntil) - leaseMs / 2) return null;
  const work = workOf(job);
  const present = await queries
    .selectFrom('jobs')
    .select('id')
    .where('id', '=', lease.jobId)
    .where('state', '=', running)
    .where('worker_id', '=', lease.workerId)
    .where('attempt', '=', lease.attempt)
    .$if(dialect === 'postgres', (own) => own.forUpdate())
    .executeTakeFirst();
  // Another worker has ended the attempt meanwhile.
  if (present === undefined) return null;
  await queries
    .insertInto('job_deaths')
    .values({
      job_id: job.id,
      worker_id: lease.workerId,
      work,
      process: worker.process,
      started_at: startedAt,
      died_at: new Date(now).toISOString(),
    })
    .onConflict((conflict) => conflict.columns(['job_id', 'worker_id']).doNothing())
    .execute();
  const deaths = await queries
    .selectFrom('job_deaths')
    .select(['worker_id', 'process', 'died_at'])
    .where('work', '=', work)
    .where('died_at', '>', new Date(now - FORGOTTEN_AFTER_MS).toISOString())
    .orderBy('died_at')
    .execute();
  const earlier = await queries
    .selectFrom('set_aside_jobs')
    .select('job_id')
    .where('work', '=', work)
    .where('job_id', '<>', job.id)
    .limit(1)
    .execute();
  // Jobs without a lane can do the same work at once, and one death of their worker is one death.
  const count = new Set(deaths.map(({ worker_id }) => worker_id)).size + earlier.length;
  const isProven = count >= ENOUGH && !(await mayOtherBeCause(queries, { job, lease, startedAt, work }));
  if (!isProven && count < ENOUGH_IN_ANY_CASE) return 'suspect';
  const processes = deaths.map(({ process, died_at }) => `${process} (${died_at})`).join(', ');
  return new SetAside(work, {
    isHeld: false,
    cause: new Error(`these processes died while it ran: ${processes}`),
  });
}

/**
 * Whether another job ran at the same death that started later, or whose work was a suspect already. Jobs are counted in the order in
 * which they started, so later ones still count as running.
 */
async function mayOtherBeCause(
  queries: Queries,
  { job, lease, startedAt, work }: Pick<LapsedJob, 'job' | 'lease' | 'startedAt'> & { work: string },
): Promise<boolean> {
  const later = await queries
    .selectFrom('jobs')
    .select('id')
    .where('state', '=', running)
    .where('worker_id', '=', lease.workerId)
    .where('id', '<>', job.id)
    .where('started_at', '>', startedAt)
    .limit(1)
    .execute();
  if (later.length > 0) return true;
  const suspects = await queries
    .selectFrom('job_deaths as before')
    .select('before.job_id')
    .where('before.worker_id', '<>', lease.workerId)
    .where('before.work', '<>', work)
    .where(({ exists, or, selectFrom }) =>
      or([
        exists(
          selectFrom('job_deaths as now')
            .select('now.job_id')
            .whereRef('now.work', '=', 'before.work')
            .where('now.worker_id', '=', lease.workerId),
        ),
        exists(
          selectFrom('jobs')
            .select('jobs.id')
            .whereRef('jobs.id', '=', 'before.job_id')
            .where('jobs.state', '=', running)
            .where('jobs.worker_id', '=', lease.workerId),
        ),
      ]),
    )
    .limit(1)
    .execute();
  return suspects.length > 0;
}

/** Takes back the deaths of a worker that lives: another one took it for dead while it did not reach the database. */
export async function retractDeaths(queries: Queries, workerId: string): Promise<void> {
  await queries.deleteFrom('job_deaths').where('worker_id', '=', workerId).execute();
}

/** Forgets the deaths of a work whose attempt ended without one. After a success, jobs set aside for it are settled. */
export async function clearSuspicion(
  queries: Queries,
  work: string,
  { hasSucceeded }: { hasSucceeded: boolean },
): Promise<void> {
  await queries.deleteFrom('job_deaths').where('work', '=', work).execute();
  if (hasSucceeded) await queries.deleteFrom('set_aside_jobs').where('work', '=', work).execute();
}
