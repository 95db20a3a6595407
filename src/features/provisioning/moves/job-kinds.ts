import type { MoveStep } from '../../../database/tables/moves.ts';
import { defineJob, type JobKind } from '../../../jobs/job.ts';
import type { Platform } from '../../../platform/platform.ts';
import { runClearing } from './clear-move.ts';
import { clearLane, clearMove, KEPT_MS, moveInstall } from './jobs.ts';
import { type MovingFleet, runMove } from './run-move.ts';
import { changeMove, findMove } from './store.ts';

const MINUTE_MS = 60_000;

/** Steps that are tried again until they succeed. */
const FORWARD: readonly MoveStep[] = ['handing_over', 'switched', 'returning'];

/** The jobs that move installs between machines. */
export function moveJobKinds(platform: Platform, fleet: MovingFleet): JobKind[] {
  const { database, queue } = platform;
  return [
    defineJob({
      ...moveInstall,
      async run({ move_id }, job) {
        const move = await findMove(database.reader, move_id);
        if (move === undefined) return;
        await runMove(platform, fleet, move, job);
        return async (transaction) => {
          if (move.step === 'returning') {
            await changeMove(transaction.queries, move_id, ['returning'], { step: 'returned' });
            await queue.enqueue(transaction, clearMove, { payload: { move_id }, lane: clearLane(move_id) });
            return;
          }
          await changeMove(transaction.queries, move_id, ['switched'], { step: 'moved' });
          await queue.enqueue(transaction, clearMove, {
            payload: { move_id },
            lane: clearLane(move_id),
            delayMs: KEPT_MS,
          });
        };
      },
      async giveUp({ move_id }, { reason }, transaction) {
        const { queries } = transaction;
        const move = await findMove(queries, move_id);
        if (move === undefined) return;
        if (await changeMove(queries, move_id, ['copying'], { step: 'failed', reason })) {
          await queue.enqueue(transaction, clearMove, { payload: { move_id }, lane: clearLane(move_id) });
          return;
        }
        // The former machine may have stopped serving, so there is no way back but by the operator.
        if (!FORWARD.includes(move.step)) return;
        const job_id = await queue.enqueue(transaction, moveInstall, {
          payload: { move_id },
          lane: move.install_id,
          delayMs: MINUTE_MS,
          ahead: true,
        });
        await changeMove(queries, move_id, [move.step], { job_id });
      },
    }),
    defineJob({ ...clearMove, run: ({ move_id }) => runClearing(platform, fleet, move_id) }),
  ];
}
