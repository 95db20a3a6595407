import type { Transaction } from '../../../database/database.ts';
import { OPEN_MOVE } from '../../../database/tables/moves.ts';
import type { Platform } from '../../../platform/platform.ts';
import { clearLane, clearMove } from './jobs.ts';
import { changeMove, unclearedMoves } from './store.ts';

/** Ends the moves of an install that is deleted, in the transaction that deletes it. What they left is removed at once. */
export async function endMoves(
  transaction: Transaction,
  { queue }: Pick<Platform, 'queue'>,
  installId: string,
): Promise<void> {
  const { queries } = transaction;
  for (const { id } of await unclearedMoves(queries, installId)) {
    // The website is on the new machine, so the former one has what is left.
    await changeMove(queries, id, ['switched'], { step: 'moved' });
    await changeMove(queries, id, OPEN_MOVE, { step: 'cancelled' });
    // It runs no later than this; a copy of a finished move waits there already.
    await queue.ensure(transaction, clearMove, { payload: { move_id: id }, lane: clearLane(id) });
  }
}
