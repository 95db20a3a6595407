import { sql } from 'kysely';
import type { Database } from '../../database/database.ts';
import type { JobState } from '../../database/tables/jobs.ts';
import { deliverWebhook } from '../../features/accounts/webhooks/jobs.ts';
import { isFirstOfItsLane } from '../../jobs/lanes.ts';
import type { LiveWorker } from '../../jobs/worker.ts';
import { type Clock, timestamp } from '../../lib/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../lib/durations.ts';
import type { OperationErrorCode } from '../../lib/operation.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';

const WAITING = 'jobs';
const FAILED = 'failed jobs';
const OVERDUE_MS = 5 * MINUTE_MS;
/** A live worker ends a lapsed lease within seconds. */
const LAPSED_MS = MINUTE_MS;
const LATELY_MS = DAY_MS;

const queued = sql.lit<JobState>('queued');
const running = sql.lit<JobState>('running');
const failed = sql.lit<JobState>('failed');
const succeeded = sql.lit<JobState>('succeeded');
const SET_ASIDE: OperationErrorCode = 'set_aside';

/**
 * Checks for a live worker, and for stuck or recently failed jobs. `serves`: whether a process of this machine serves
 * websites, which a worker is part of.
 */
export async function checkJobs(
  database: Database,
  clock: Clock,
  workers: LiveWorker[],
  serves = false,
): Promise<Finding[]> {
  const [waiting, lost, failures] = await Promise.all([
    countWaiting(database, timestamp(clock, workers.length === 0 ? 0 : -OVERDUE_MS)),
    countLapsed(database, timestamp(clock, -LAPSED_MS)),
    failuresSince(database, timestamp(clock, -LATELY_MS)),
  ]);
  return [judgeWaiting(waiting, lost, workers, serves), judgeFailures(failures)];
}

function judgeWaiting(waiting: number, lost: number, workers: LiveWorker[], serves: boolean): Finding {
  // A process has a worker for webhooks, too.
  const processes = [...new Set(workers.map((worker) => worker.process))].join(', ');
  if (workers.length === 0 && serves) {
    return problem(
      WAITING,
      'A server runs, but has not reported to the database for 10 seconds, so it runs no jobs.',
      'Check the disk of the database and the server log. A server that has just started reports in a moment.',
    );
  }
  if (workers.length === 0) {
    return waiting + lost === 0
      ? ok(WAITING, 'No job is waiting, and no server is running.')
      : warning(
          WAITING,
          `No server is running, and ${jobs(waiting + lost)} for one.`,
          'Start it: "homeport serve".',
        );
  }
  if (lost > 0) {
    return warning(
      WAITING,
      `${jobs(lost)} to be taken over from a worker that ended, though ${processes} could.`,
      'Look at the log of the server; a restart may help.',
    );
  }
  if (waiting > 0) {
    return warning(
      WAITING,
      `${jobs(waiting)} for more than 5 minutes, though ${processes} could do them.`,
      'Look at the log of the server; raise HOMEPORT_WORKERS if it is only slow.',
    );
  }
  return ok(WAITING, `No job is late. Workers: ${processes}.`);
}

function judgeFailures(failures: FailedKind[]): Finding {
  if (failures.length === 0) return ok(FAILED, 'None in the last 24 hours.');
  const kinds = failures.map(({ kind, count }) => `${count} × ${kind}`).join(', ');
  const latest = reasonOf(failures[0]?.error ?? 'the reason is unknown');
  return warning(
    FAILED,
    `In the last 24 hours: ${kinds}. The latest: ${latest}.`,
    'Fix the cause and request the work again. The server log has the details.',
  );
}

function jobs(count: number): string {
  return count === 1 ? '1 job waits' : `${count} jobs wait`;
}

/**
 * Jobs due before `before` that nothing but a lack of workers holds up. Those behind a job of their lane do not count, nor webhooks, which
 * wait for the slow receivers of their account.
 */
async function countWaiting({ reader }: Database, before: string): Promise<number> {
  const { count } = await reader
    .selectFrom('jobs as head')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('head.state', '=', queued)
    .where('head.run_at', '<=', before)
    .where('head.kind', '<>', deliverWebhook.name)
    .where(isFirstOfItsLane)
    .executeTakeFirstOrThrow();
  return count;
}

/** Jobs whose worker has not been heard of since. */
async function countLapsed({ reader }: Database, since: string): Promise<number> {
  const { count } = await reader
    .selectFrom('jobs')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('state', '=', running)
    .where('lease_until', '<', since)
    .executeTakeFirstOrThrow();
  return count;
}

interface FailedKind {
  kind: string;
  count: number;
  error: string | null;
}

/** By kind, the one that failed last first, with its latest error. Without those whose work succeeded later. */
async function failuresSince({ reader }: Database, since: string): Promise<FailedKind[]> {
  const finished = reader.selectFrom('jobs').where('finished_at', '>', since);
  const [rows, successes] = await Promise.all([
    finished
      .select(['seq', 'kind', 'lane', 'error'])
      .where('state', '=', failed)
      // Another check names them.
      .where((eb) => eb.or([eb('reason_code', 'is', null), eb('reason_code', '<>', SET_ASIDE)]))
      .orderBy('finished_at', 'desc')
      .execute(),
    finished
      .select((eb) => ['kind', 'lane', eb.fn.max('seq').as('last')])
      .where('state', '=', succeeded)
      .groupBy(['kind', 'lane'])
      .execute(),
  ]);
  const keyOf = ({ kind, lane }: { kind: string; lane: string | null }) => `${kind} ${lane ?? ''}`;
  const lastSuccess = new Map(successes.map(({ last, ...job }) => [keyOf(job), Number(last)]));
  const kinds = new Map<string, FailedKind>();
  for (const { seq, error, ...job } of rows) {
    if ((lastSuccess.get(keyOf(job)) ?? 0) > seq) continue;
    const { kind } = job;
    const known = kinds.get(kind);
    if (known) known.count += 1;
    else kinds.set(kind, { kind, count: 1, error });
  }
  return [...kinds.values()];
}
