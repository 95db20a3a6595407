import Type, { type Static } from 'typebox';
import type { Transaction } from '../../src/database/database.ts';
import { defineJob, type JobKind } from '../../src/jobs/job.ts';

/** Short, so that the jobs of a dead worker are taken over while the test watches. */
export const poisonTimes = { leaseMs: 2_000, heartbeatMs: 300, pollMs: 50 };

const Payload = Type.Object({
  name: Type.String(),
  /** How each run ends the process; null: not at all. */
  ends: Type.Union([Type.Literal('SIGSEGV'), Type.Literal('SIGKILL'), Type.Null()]),
  /** How long it runs before. */
  ms: Type.Integer(),
});

/** An effect in the database, with a number that shows repetitions: in a table made for another purpose. */
async function addEffect({ queries }: Transaction, key: string): Promise<void> {
  await queries
    .insertInto('rate_windows')
    .values({ key, window_start: '2026-01-01T00:00:00.000Z', taken: 1 })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => ({ taken: eb('rate_windows.taken', '+', 1) })),
    )
    .execute();
}

/** A job that may end the process that runs it. Its success and its end without success are effects. */
export function poisonJob(
  run: (payload: Static<typeof Payload>, signal: AbortSignal) => Promise<void>,
): JobKind<typeof Payload> {
  return defineJob({
    name: 'poison',
    operation: 'domain.check',
    payload: Payload,
    maxAttempts: 12,
    timeoutMs: 60_000,
    async run(payload, { signal }) {
      await run(payload, signal);
      return (transaction) => addEffect(transaction, `${payload.name} succeeded`);
    },
    giveUp: ({ name }, { reason }, transaction) => addEffect(transaction, `${name} given up: ${reason}`),
  });
}
