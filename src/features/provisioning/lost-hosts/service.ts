import type { Queries, Transaction } from '../../../database/database.ts';
import { lockPlacement } from '../../../database/lock.ts';
import { timestamp } from '../../../lib/clock.ts';
import { OperatorError } from '../../../lib/operator-error.ts';
import type { Platform } from '../../../platform/platform.ts';
import { findHost, installCounts, type KnownHost, updateHost } from '../../hosts/store.ts';
import { clearLane, clearMove } from '../moves/jobs.ts';
import { changeMove, openMovesOf } from '../moves/store.ts';
import { changeRebuild, openRebuildsOn } from './rebuild-store.ts';

export type LostHostService = ReturnType<typeof createLostHostService>;

/** Gives up hosts and takes them back, for the command line. */
export function createLostHostService(platform: Pick<Platform, 'database' | 'queue' | 'clock' | 'log'>) {
  const { database, queue, clock, log } = platform;

  async function named(queries: Queries, name: string): Promise<KnownHost> {
    const host = await findHost(queries, { name });
    if (!host) throw new OperatorError(`There is no host "${name}"; "homeport host list" shows them all.`);
    return host;
  }

  /**
   * Gives a host up: the platform sends it nothing except to stop its websites, and answers none of its questions. Moves that can still be undone are.
   * Returns the number of installs that are on it. Throws OperatorError.
   */
  async function giveUp(name: string): Promise<number> {
    return database.write(async (transaction) => {
      const { queries } = transaction;
      await lockPlacement(transaction);
      const { id, lost_at } = await named(queries, name);
      if (lost_at !== null) {
        throw new OperatorError(
          `The host "${name}" was given up at ${lost_at}; "homeport host found ${name}" takes it back.`,
        );
      }
      await updateHost(queries, id, { lost_at: timestamp(clock), reason: 'It was given up as lost.' });
      await endMoves(transaction, id, name);
      await endRebuilds(transaction, id, name);
      log.warn({ host: id }, 'a host was given up as lost');
      return (await installCounts(queries)).get(id) ?? 0;
    });
  }

  /** Those in which both machines have to answer, and the website is still on the former one. Others go on when both answer. */
  async function endMoves(transaction: Transaction, hostId: string, name: string): Promise<void> {
    const { queries } = transaction;
    for (const { id, job_id } of await openMovesOf(queries, hostId)) {
      const reason = `The host ${name} was given up as lost.`;
      if (!(await changeMove(queries, id, ['copying'], { step: 'failed', reason }))) continue;
      await queue.cancel(transaction, job_id);
      await queue.enqueue(transaction, clearMove, { payload: { move_id: id }, lane: clearLane(id) });
    }
  }

  /** Of installs that came to this host from an earlier lost one. They can be rebuilt as its own. */
  async function endRebuilds(transaction: Transaction, hostId: string, name: string): Promise<void> {
    const { queries } = transaction;
    for (const { id, job_id } of await openRebuildsOn(queries, hostId)) {
      const reason = `The host ${name} was given up as lost.`;
      await changeRebuild(queries, id, ['restoring'], {
        step: 'failed',
        reason,
        finished_at: timestamp(clock),
      });
      await queue.cancel(transaction, job_id);
    }
  }

  /** Takes a host back with what it has: it serves its installs again, except those that are elsewhere now. Throws OperatorError. */
  async function takeBack(name: string): Promise<void> {
    await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockPlacement(transaction);
      const { id, lost_at } = await named(queries, name);
      if (lost_at === null) throw new OperatorError(`The host "${name}" was not given up.`);
      await updateHost(queries, id, { lost_at: null, reason: 'It was taken back, and not seen since.' });
      log.warn({ host: id }, 'a host that was given up is taken back');
    });
  }

  return { giveUp, takeBack };
}
