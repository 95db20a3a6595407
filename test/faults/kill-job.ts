import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import Type, { type Static } from 'typebox';
import { defineJob, type JobKind } from '../../src/jobs/job.ts';

/** Short, so that the jobs of a killed worker are taken over while the test watches. */
export const LEASE_MS = 3_000;
export const HEARTBEAT_MS = 500;

/** Moments at which the process that does a job's first attempt is killed, to the statement. */
const MOMENTS = ['in run', 'in the transaction', 'after the commit'] as const;
export type Moment = (typeof MOMENTS)[number];

const Payload = Type.Object({
  n: Type.Integer(),
  lane: Type.String(),
  workMs: Type.Integer(),
  killed: Type.Union([...MOMENTS.map((moment) => Type.Literal(moment)), Type.Null()]),
});

/** What the journal of a process says of an attempt. */
export const JournalEntry = Type.Object({
  what: Type.Union([Type.Literal('begin'), Type.Literal('end')]),
  n: Type.Integer(),
  lane: Type.String(),
  attempt: Type.Integer(),
  /** Milliseconds of the machine's monotonic clock. */
  at: Type.Number(),
});
export type JournalEntry = Static<typeof JournalEntry>;

/**
 * A job with both kinds of effect: a file, written idempotently by `run`, and a row of the table `effects`, which
 * would be there twice if the completion happened twice.
 */
export function createEffectJob(outside: {
  write(name: string, content: string): void;
  record(entry: Omit<JournalEntry, 'at'>): void;
  kill(): void;
}): JobKind<typeof Payload> {
  return defineJob({
    name: 'effect',
    payload: Payload,
    maxAttempts: 50,
    timeoutMs: 60_000,
    async run({ n, lane, workMs, killed }, { attempt, signal }) {
      const moment = attempt === 1 ? killed : null;
      outside.record({ what: 'begin', n, lane, attempt });
      outside.write(`${n}.txt`, 'half');
      if (moment === 'in run') outside.kill();
      await sleep(workMs, undefined, { signal });
      outside.write(`${n}.txt`, `whole ${n}`);
      outside.record({ what: 'end', n, lane, attempt });
      return async (transaction) => {
        await sql`insert into effects (n) values (${n})`.execute(transaction.queries);
        if (moment === 'in the transaction') outside.kill();
        if (moment === 'after the commit') transaction.afterCommit(outside.kill);
      };
    },
  });
}
