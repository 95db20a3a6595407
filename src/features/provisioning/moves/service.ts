import { OPERATOR } from '../../../access/caller.ts';
import type { Queries, Transaction } from '../../../database/database.ts';
import { lockRow } from '../../../database/lock.ts';
import type { MoveStep } from '../../../database/tables/moves.ts';
import { timestamp } from '../../../lib/clock.ts';
import { InvalidRequest } from '../../../lib/failures.ts';
import type { Platform } from '../../../platform/platform.ts';
import { labelsOfAccount, setHost } from '../../hosts/placement-store.ts';
import { findHost, installCounts } from '../../hosts/store.ts';
import { lockNamed, requireNamed } from '../../websites/installs/requested-website.ts';
import { lostDataOf } from '../../websites/installs/website-store.ts';
import { requireNameFree } from '../orphans.ts';
import { clearLane, clearMove, moveInstall } from './jobs.ts';
import { moveRefusal } from './rules.ts';
import { changeMove, insertMove, latestMove, openMove, unclearedMoves } from './store.ts';

export interface RequestedMove {
  jobId: string;
  installId: string;
  /** Names of the machines. */
  from: string;
  to: string;
}

/** A move as the operator sees it. */
export interface MoveView extends RequestedMove {
  step: MoveStep;
  reason: string | null;
  requestedAt: string;
  switchedAt: string | null;
  /** Whether the other machine still has a copy. */
  hasCopy: boolean;
}

/** Moves installs between machines, for the command line. */
export function createMoveService(
  platform: Pick<Platform, 'database' | 'queue' | 'activity' | 'clock' | 'random'>,
) {
  const { database, queue, activity, clock, random } = platform;

  /** Requests a move. Throws InvalidRequest, with the reason and what to do, before anything happens. */
  async function request(name: string, hostName: string): Promise<RequestedMove> {
    return database.write(async (transaction) => {
      const { queries } = transaction;
      const install = await lockNamed(transaction, name);
      const to = await findHost(queries, { name: hostName });
      if (to === undefined) {
        throw new InvalidRequest(`There is no host "${hostName}"; "homeport host list" shows them all.`);
      }
      const from = install.host_id === null ? undefined : await findHost(queries, { id: install.host_id });
      const installs = (await installCounts(queries)).get(to.id) ?? 0;
      const lost_data = await lostDataOf(queries, install.id);
      const labels = await labelsOfAccount(queries, install.account_id);
      const refusal = moveRefusal({ ...install, lost_data, labels }, { from, to, installs });
      if (refusal !== null || from === undefined) throw new InvalidRequest(refusal ?? 'No host.');
      await requireNoOther(queries, { installId: install.id, name, to: to.id });
      await requireNameFree(queries, to.id, install);
      const id = random.uuid();
      const jobId = await queue.enqueue(transaction, moveInstall, {
        payload: { move_id: id },
        lane: install.id,
      });
      await insertMove(queries, {
        ...{ id, install_id: install.id, install_name: name, from_host: from.id, to_host: to.id },
        ...{ step: 'copying', job_id: jobId, requested_at: timestamp(clock) },
      });
      await activity.record(transaction, OPERATOR, install.account_id, {
        action: 'install.move',
        subject: { id: install.id, name },
        installId: install.id,
        details: { from: from.name, to: to.name },
      });
      return { jobId, installId: install.id, from: from.name, to: to.name };
    });
  }

  /** Another machine may have what an earlier move left, because it may be silent for long. */
  async function requireNoOther(
    queries: Queries,
    { installId, name, to }: { installId: string; name: string; to: string },
  ): Promise<void> {
    if ((await openMove(queries, installId)) !== undefined) {
      throw new InvalidRequest(
        `The install "${name}" is being moved already; "homeport install move ${name}" shows it.`,
      );
    }
    const uncleared = await unclearedMoves(queries, installId);
    if (uncleared.some(({ step, to_host }) => step !== 'moved' && to_host === to)) {
      throw new InvalidRequest(
        `What an earlier move of "${name}" left there is still being removed. Try again in a minute, or move it to another machine.`,
      );
    }
  }

  /** Cancels a move until the new machine takes over. Throws InvalidRequest. */
  async function cancel(name: string): Promise<void> {
    await database.write(async (transaction) => {
      const { queries } = transaction;
      const install = await requireNamed(queries, name);
      await lockRow(transaction, 'installs', install.id);
      const move = await openMove(queries, install.id);
      if (move === undefined) throw new InvalidRequest(`The install "${name}" is not being moved.`);
      if (!(await changeMove(queries, move.id, ['copying'], { step: 'cancelled' }))) {
        throw new InvalidRequest(`The new machine of "${name}" takes over already. Move it back afterwards.`);
      }
      await queue.cancel(transaction, move.job_id);
      await enqueueClearing(transaction, move.id, 0);
    });
  }

  /**
   * What a return to the former machine loses, for the operator to confirm. Throws InvalidRequest unless the new machine takes over and does not
   * answer.
   */
  async function lossOfReturn(name: string): Promise<string> {
    const { reader } = database;
    const { id } = await requireNamed(reader, name);
    const { from, to, switched_at } = await requireReturnable(reader, id, name);
    if (switched_at === null)
      return `${name} returns to ${from} as it was when it was handed over. Nothing is lost.`;
    return (
      `${name} returns to ${from} as it was at ${switched_at}. What visitors changed on ${to} since then is lost. ` +
      `If ${to} comes back, its copy is deleted.`
    );
  }

  /** Returns an install to its former machine, if the new one is lost. Throws InvalidRequest. */
  async function giveBack(name: string): Promise<RequestedMove> {
    return database.write(async (transaction) => {
      const { queries } = transaction;
      const install = await lockNamed(transaction, name);
      const { move, from, to } = await requireReturnable(queries, install.id, name);
      await queue.cancel(transaction, move.job_id);
      const jobId = await queue.enqueue(transaction, moveInstall, {
        payload: { move_id: move.id },
        lane: install.id,
        ahead: true,
      });
      const change = { step: 'returning' as const, job_id: jobId, reason: `${to} did not answer` };
      await changeMove(queries, move.id, ['handing_over', 'switched'], change);
      await setHost(queries, install.id, move.from_host);
      await activity.record(transaction, OPERATOR, install.account_id, {
        action: 'install.move',
        subject: { id: install.id, name },
        installId: install.id,
        details: { from: to, to: from },
      });
      return { jobId, installId: install.id, from: to, to: from };
    });
  }

  async function requireReturnable(queries: Queries, installId: string, name: string) {
    const move = await openMove(queries, installId);
    if (move?.step !== 'handing_over' && move?.step !== 'switched') {
      throw new InvalidRequest(
        `The install "${name}" is not being handed over to another machine, so there is nothing to return from.`,
      );
    }
    const from = await findHost(queries, { id: move.from_host });
    const to = await findHost(queries, { id: move.to_host });
    if (to !== undefined && to.reason === null) {
      throw new InvalidRequest(
        `The host "${to.name}" answers, so the move of "${name}" goes on. Move it back afterwards.`,
      );
    }
    const { switched_at } = move;
    return { move, from: from?.name ?? move.from_host, to: to?.name ?? move.to_host, switched_at };
  }

  /** Queues the removal of what a move left, `delayMs` from now. */
  async function enqueueClearing(transaction: Transaction, moveId: string, delayMs: number): Promise<void> {
    await queue.enqueue(transaction, clearMove, {
      payload: { move_id: moveId },
      lane: clearLane(moveId),
      delayMs,
    });
  }

  /** The latest move of an install; null if it was never moved. Throws InvalidRequest. */
  async function show(name: string): Promise<MoveView | null> {
    const { reader } = database;
    const install = await requireNamed(reader, name);
    const move = await latestMove(reader, install.id);
    if (move === undefined) return null;
    const nameOf = async (id: string) => (await findHost(reader, { id }))?.name ?? id;
    return {
      ...{ jobId: move.job_id, installId: install.id },
      ...{ from: await nameOf(move.from_host), to: await nameOf(move.to_host) },
      ...{ step: move.step, reason: move.reason },
      ...{ requestedAt: move.requested_at, switchedAt: move.switched_at },
      hasCopy: move.cleared_at === null && move.step === 'moved',
    };
  }

  return { request, cancel, lossOfReturn, giveBack, show };
}
