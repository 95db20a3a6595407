import type { Queries, Transaction } from '../../../database/database.ts';
import type { MoveStep } from '../../../database/tables/moves.ts';
import { timestamp } from '../../../lib/clock.ts';
import { Conflict } from '../../../lib/failures.ts';
import type { Actor } from '../../../platform/activity-log.ts';
import type { Platform } from '../../../platform/platform.ts';
import { labelsOfAccount, setHost } from '../../hosts/placement-store.ts';
import { findHost, installCounts, type KnownHost } from '../../hosts/store.ts';
import type { Website } from '../../websites/installs/requested-website.ts';
import { lostDataOf } from '../../websites/installs/website-store.ts';
import { hostsWithNamesake } from '../orphan-store.ts';
import { clearLane, clearMove, moveInstall } from './jobs.ts';
import { moveRefusal } from './rules.ts';
import { changeMove, findMove, insertMove, latestMove, openMove, unclearedMoves } from './store.ts';

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

type Install = Pick<Website, 'id' | 'name'>;

/** Why an install cannot move to each of these machines now, for the operator; null where it can. */
export async function refusalsOf(
  queries: Queries,
  install: Website,
  hosts: readonly KnownHost[],
): Promise<(string | null)[]> {
  const { id, name, host_id, account_id } = install;
  const from = host_id === null ? undefined : await findHost(queries, { id: host_id });
  const counts = await installCounts(queries);
  const lost_data = await lostDataOf(queries, id);
  const labels = await labelsOfAccount(queries, account_id);
  const open = await openMove(queries, id);
  const uncleared = await unclearedMoves(queries, id);
  const withNamesake = await hostsWithNamesake(queries, install);
  return hosts.map((to) => {
    const machines = { from, to, installs: counts.get(to.id) ?? 0 };
    const refusal = moveRefusal({ ...install, lost_data, labels }, machines);
    if (refusal !== null) return refusal;
    if (open !== undefined) {
      return `The install "${name}" is being moved already; "homeport install move ${name}" shows it.`;
    }
    // That machine may be silent for long.
    if (uncleared.some(({ step, to_host }) => step !== 'moved' && to_host === to.id)) {
      return `What an earlier move of "${name}" left there is still being removed. Try again in a minute, or move it to another machine.`;
    }
    return withNamesake.has(to.id)
      ? `The host "${to.name}" has another website "${name}", which the platform does not know; "homeport install orphans" shows it.`
      : null;
  });
}

/** Requests a move of a locked install. Throws Conflict, with the reason and what to do, before anything happens. */
export async function requestMove(
  { queue, activity, clock, random }: Pick<Platform, 'queue' | 'activity' | 'clock' | 'random'>,
  transaction: Transaction,
  actor: Actor,
  { install, to }: { install: Website; to: KnownHost },
): Promise<RequestedMove> {
  const { queries } = transaction;
  const { host_id } = install;
  const from = host_id === null ? undefined : await findHost(queries, { id: host_id });
  const [refusal = null] = await refusalsOf(queries, install, [to]);
  if (refusal !== null || from === undefined) throw new Conflict(refusal ?? 'No host.');
  const id = random.uuid();
  const jobId = await queue.enqueue(transaction, moveInstall, {
    payload: { move_id: id },
    lane: install.id,
    requestId: actor.origin.requestId,
  });
  await insertMove(queries, {
    ...{ id, install_id: install.id, install_name: install.name, from_host: from.id, to_host: to.id },
    ...{ step: 'copying', job_id: jobId, requested_at: timestamp(clock) },
  });
  await activity.record(transaction, actor, install.account_id, {
    action: 'install.move',
    subject: { id: install.id, name: install.name },
    installId: install.id,
    details: { from: from.name, to: to.name },
  });
  return { jobId, installId: install.id, from: from.name, to: to.name };
}

/** Ends a move whose job is about to be cancelled, and removes what it copied. Throws Conflict once the new machine takes over. */
export async function endCancelledMove(
  { queue }: Pick<Platform, 'queue'>,
  transaction: Transaction,
  moveId: string,
): Promise<void> {
  const { queries } = transaction;
  if (!(await changeMove(queries, moveId, ['copying'], { step: 'cancelled' }))) {
    const name = (await findMove(queries, moveId))?.install_name ?? 'the install';
    throw new Conflict(`The new machine of "${name}" takes over already. Move it back afterwards.`);
  }
  await queue.enqueue(transaction, clearMove, { payload: { move_id: moveId }, lane: clearLane(moveId) });
}

/** The loss by a return to the former machine. Throws Conflict unless the new machine takes over and does not answer. */
export async function lossOfReturn(queries: Queries, install: Install): Promise<string> {
  const { name } = install;
  const { from, to, switched_at } = await requireReturnable(queries, install);
  if (switched_at === null)
    return `${name} returns to ${from} as it was when it was handed over. Nothing is lost.`;
  return (
    `${name} returns to ${from} as it was at ${switched_at}. What visitors changed on ${to} since then is lost. ` +
    `If ${to} comes back, its copy is deleted.`
  );
}

/** Returns a locked install to its former machine, if the new one is lost. Throws Conflict. */
export async function requestReturn(
  { queue, activity }: Pick<Platform, 'queue' | 'activity'>,
  transaction: Transaction,
  actor: Actor,
  install: Website,
): Promise<RequestedMove> {
  const { queries } = transaction;
  const { move, from, to } = await requireReturnable(queries, install);
  await queue.cancel(transaction, move.job_id);
  const jobId = await queue.enqueue(transaction, moveInstall, {
    payload: { move_id: move.id },
    lane: install.id,
    ahead: true,
    requestId: actor.origin.requestId,
  });
  const change = { step: 'returning' as const, job_id: jobId, reason: `${to} did not answer` };
  await changeMove(queries, move.id, ['handing_over', 'switched'], change);
  await setHost(queries, install.id, move.from_host);
  await activity.record(transaction, actor, install.account_id, {
    action: 'install.move',
    subject: { id: install.id, name: install.name },
    installId: install.id,
    details: { from: to, to: from },
  });
  return { jobId, installId: install.id, from: to, to: from };
}

async function requireReturnable(queries: Queries, { id, name }: Install) {
  const move = await openMove(queries, id);
  if (move?.step !== 'handing_over' && move?.step !== 'switched') {
    throw new Conflict(
      `The install "${name}" is not being handed over to another machine, so there is nothing to return from.`,
    );
  }
  const from = await findHost(queries, { id: move.from_host });
  const to = await findHost(queries, { id: move.to_host });
  if (to !== undefined && to.reason === null) {
    throw new Conflict(
      `The host "${to.name}" answers, so the move of "${name}" goes on. Move it back afterwards.`,
    );
  }
  const { switched_at } = move;
  return { move, from: from?.name ?? move.from_host, to: to?.name ?? move.to_host, switched_at };
}

/** The latest move of an install; null if it was not moved lately. */
export async function viewMove(queries: Queries, installId: string): Promise<MoveView | null> {
  const move = await latestMove(queries, installId);
  if (move === undefined) return null;
  const nameOf = async (id: string) => (await findHost(queries, { id }))?.name ?? id;
  return {
    ...{ jobId: move.job_id, installId },
    ...{ from: await nameOf(move.from_host), to: await nameOf(move.to_host) },
    ...{ step: move.step, reason: move.reason },
    ...{ requestedAt: move.requested_at, switchedAt: move.switched_at },
    hasCopy: move.cleared_at === null && move.step === 'moved',
  };
}
