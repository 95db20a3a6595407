import type { Logger } from 'pino';
import type { TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { Transaction } from '../database/database.ts';
import { DAY_MS } from '../lib/durations.ts';
import { AttemptTimeout } from './failure.ts';
import { type Completion, type JobFailure, type JobKind, PermanentFailure, type RunningJob } from './job.ts';
import { type ClaimedJob, type Lease, LeaseLost } from './leases.ts';

/** A kind as the worker calls it, with payloads checked after they are read back. */
export interface CheckedKind {
  readonly name: string;
  readonly timeoutMs: number;
  readonly patienceMs: number;
  readonly isRepeatable: boolean;
  readonly isHarmless: boolean;
  readonly isForgotten: boolean;
  run(payload: unknown, job: RunningJob): Promise<Completion | undefined>;
  giveUp(payload: unknown, failure: JobFailure, transaction: Transaction): Promise<void>;
}

const PATIENCE_MS = 3 * DAY_MS;

/** Binds a kind to its schema, so that no invalid payload reaches it. */
function checkedKind<Schema extends TSchema>(kind: JobKind<Schema>): CheckedKind {
  return {
    name: kind.name,
    timeoutMs: kind.timeoutMs,
    patienceMs: kind.patienceMs ?? PATIENCE_MS,
    isRepeatable: kind.isRepeatable ?? kind.giveUp === undefined,
    isHarmless: kind.isHarmless ?? false,
    isForgotten: kind.isForgotten ?? false,
    async run(payload, job) {
      if (!Value.Check(kind.payload, payload))
        throw new PermanentFailure(misfit(kind.payload, payload), { code: 'outdated' });
      return (await kind.run(payload, job)) ?? undefined;
    },
    async giveUp(payload, failure, transaction) {
      if (Value.Check(kind.payload, payload)) await kind.giveUp?.(payload, failure, transaction);
    },
  };
}

/** Checks kinds and finds them by name. Throws if two have the same, or if there are none. */
export function kindsByName(kinds: readonly JobKind[]): ReadonlyMap<string, CheckedKind> {
  const byName = new Map(kinds.map((kind) => [kind.name, checkedKind(kind)]));
  if (byName.size === 0) throw new Error('a worker needs at least one kind of job');
  if (byName.size < kinds.length) throw new Error('two kinds of job have the same name');
  return byName;
}

/** Names the places only: payload values may be secret. */
function misfit(schema: TSchema, payload: unknown): string {
  const faults = Value.Errors(schema, payload).map(
    (fault) => `${fault.instancePath || '/'} ${fault.message}`,
  );
  return `The request was stored in a form that this version does not understand (${faults.slice(0, 3).join('; ')}).`;
}

/** The abort reason of jobs whose worker stops. */
export class WorkerStopping extends Error {
  override readonly name = 'WorkerStopping';
}

/** The abort reason of a cancelled job. */
export class CalledOff extends Error {
  override readonly name = 'CalledOff';
}

/** A running attempt of this worker. */
export interface Active {
  job: ClaimedJob;
  lease: Lease;
  /** Aborts the attempt. */
  controller: AbortController;
  /** Aborts when the job is cancelled. The attempt may take its time to end. */
  calledOff: AbortController;
  /** Aborts when the lease is lost. */
  lost: AbortController;
  /** When the lease lapses, milliseconds since the epoch. */
  leaseUntil: number;
  /** When it was claimed, milliseconds since the epoch. */
  startedAt: number;
  /** Its work, if a process died while the same work ran. */
  suspectOf: string | null;
  /** Its outcome is being written, so a row that no longer runs is no sign of a lost lease. */
  settling: boolean;
  /** Called with the work of an attempt that ended although its work goes on. The work never rejects. */
  goesOn(work: Promise<unknown>): void;
  /** Resolves when everything is written; never rejects. */
  ended: Promise<void>;
}

/** The result of an attempt, before it is stored. */
export type Outcome =
  | { is: 'done'; completion: Completion | undefined }
  | { is: 'failed'; error: unknown }
  /** It ended because the job was cancelled. */
  | { is: 'called off' }
  /** It ended because the worker stops; another may start it at once. */
  | { is: 'interrupted' }
  /** It continues although the worker stops. No worker may start it until its lease lapses. */
  | { is: 'unstoppable' }
  /** Another worker has the job by now. */
  | { is: 'lost' };

/**
 * Runs one attempt. It ends when `run` ends; after an abort (timeout, lost lease, stopping worker) at the latest
 * `abortGraceMs` later, even if `run` ignores its signal. A cancelled attempt may continue until it ends.
 */
export async function carryOut(
  kind: CheckedKind,
  job: ClaimedJob,
  { controller, calledOff, goesOn }: Pick<Active, 'controller' | 'calledOff' | 'goesOn'>,
  abortGraceMs: number,
  context: Pick<RunningJob, 'stopping' | 'isHeld' | 'log' | 'progress'>,
): Promise<Outcome> {
  const { signal } = controller;
  const heard = AbortSignal.any([signal, calledOff.signal]);
  const timeout = setTimeout(() => controller.abort(new AttemptTimeout(kind.timeoutMs)), kind.timeoutMs);
  let grace: NodeJS.Timeout | undefined;
  const graceOver = new Promise<Outcome>((resolve) => {
    signal.addEventListener('abort', () => {
      grace = setTimeout(() => resolve({ is: 'unstoppable' }), abortGraceMs);
    });
  });
  const work = kind
    .run(job.payload, {
      id: job.id,
      attempt: job.attempt,
      requestId: job.requestId,
      signal: heard,
      ...context,
    })
    .then(
      (completion): Outcome => ({ is: 'done', completion }),
      (error: unknown): Outcome => ({ is: 'failed', error }),
    );
  const ended = await Promise.race([work, graceOver]);
  clearTimeout(timeout);
  clearTimeout(grace);
  if (ended.is === 'unstoppable') {
    context.log.error({ err: signal.reason }, 'the job goes on although its signal aborted');
    goesOn(work);
  }
  if (signal.aborted) return afterAbort(signal.reason, kind, ended);
  return calledOff.signal.aborted && ended.is === 'failed' ? { is: 'called off' } : ended;
}

function afterAbort(reason: unknown, kind: CheckedKind, ended: Outcome): Outcome {
  if (reason instanceof LeaseLost) return { is: 'lost' };
  if (reason instanceof AttemptTimeout) {
    const cause = ended.is === 'failed' ? { cause: ended.error } : undefined;
    return { is: 'failed', error: new AttemptTimeout(kind.timeoutMs, cause) };
  }
  // Work completed during a stop counts as completed.
  return ended.is === 'failed' ? { is: 'interrupted' } : ended;
}

/** A logger with the job in every line. */
export function logOf(log: Logger, job: ClaimedJob): Logger {
  return log.child({
    job: job.id,
    kind: job.kind,
    lane: job.lane,
    attempt: job.attempt,
    request_id: job.requestId,
  });
}
