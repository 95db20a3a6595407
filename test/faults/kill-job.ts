import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import Type, { type Static } from 'typebox';
import { defineJob, type JobKind } from '../../src/jobs/job.ts';

/** Short, so that the jobs of a killed worker are taken over while the test watches. */
export const LEASE_MS = 3_000;
export const HEARTBEAT_MS = 500;

/** A moment at which the process that does a job is killed, once, to the statement. */
const Moment = Type.Union([
  Type.Literal('in run'),
  Type.Literal('in the transaction'),
  Type.Literal('after the commit'),
]);
export type Moment = Static<typeof Moment>;

const Payload = Type.Object({
  n: Type.Integer(),
  lane: Type.String(),
  workMs: Type.Integer(),
  killed: Type.Union([Moment, Type.Null()]),
});

/** A journal entry of an attempt. */
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
  /** Ends this process at once, the first time that it is called for job `n`; later does nothing. */
  kill(n: number, attempt: number): void;
}): JobKind<typeof Payload> {
  return defineJob({
    name: 'effect',
    payload: Payload,
    maxAttempts: 50,
    timeoutMs: 60_000,
    async run({ n, lane, workMs, killed }, { attempt, signal }) {
      const kill = () => outside.kill(n, attempt);
      outside.record({ what: 'begin', n, lane, attempt });
      outside.write(`${n}.txt`, 'half');
      if (killed === 'in run') kill();
      await sleep(workMs, undefined, { signal });
      outside.write(`${n}.txt`, `whole ${n}`);
      outside.record({ what: 'end', n, lane, attempt });
      return async (transaction) => {
        await sql`insert into effects (n) values (${n})`.execute(transaction.queries);
        if (killed === 'in the transaction') kill();
        if (killed === 'after the commit') transaction.afterCommit(kill);
      };
    },
  });
}
