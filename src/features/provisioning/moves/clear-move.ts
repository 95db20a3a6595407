import type { HostMachine } from '../../../hosting/contract/host.ts';
import type { InstallRef } from '../../../hosting/contract/install-ref.ts';
import { Postponed } from '../../../jobs/job.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { Platform } from '../../../platform/platform.ts';
import { postponing } from '../../hosts/host-failures.ts';
import { findHost, placeOf } from '../../hosts/store.ts';
import { EarlierVersionError, removeCopy } from './remove-copy.ts';
import { type MovingFleet, snapshotsOf } from './run-move.ts';
import { findMove, markCleared, openMove } from './store.ts';

/**
 * Removes what a move left on the machine that the install is not on: after a success the former copy, else what was made on
 * the new machine. Never touches the machine that has the install, or a repository that it uses.
 */
export async function runClearing(
  { database, queue, clock, random }: Pick<Platform, 'database' | 'queue' | 'clock' | 'random'>,
  fleet: Pick<MovingFleet, 'machine'>,
  moveId: string,
): Promise<void> {
  const { reader } = database;
  const move = await findMove(reader, moveId);
  if (move === undefined || move.cleared_at !== null) return;
  // A cancelled job ends within seconds, and would make again what is removed here.
  if ((await queue.find(move.job_id))?.state === 'running') throw new Postponed('The move is still ending.');
  const install = { id: move.install_id, name: move.install_name };
  const other = move.step === 'moved' ? move.from_host : move.to_host;
  const open = await openMove(reader, install.id);
  if (open !== undefined && open.id !== moveId) throw new Postponed('The install is being moved again.');
  const present = (await placeOf(reader, install.id))?.hostId ?? null;
  const at = (hostId: string) => postponing(fleet.machine(hostId));
  // First, because the other machine may be silent for long, or gone.
  if (present === move.from_host && move.step !== 'moved') await takeBack(install, await at(present), moveId);
  // It was moved back, or the operator has given the machine up.
  const isKept = present === other || (await findHost(reader, { id: other })) === undefined;
  if (!isKept) {
    const machine = await at(other);
    if (present === null) await postponing(machine.remove(install));
    else {
      try {
        await postponing(removeCopy(install, machine, await at(present), random.uuid()));
      } catch (error) {
        if (error instanceof EarlierVersionError) throw new Postponed(error.message, { cause: error });
        throw error;
      }
    }
  }
  await database.write(({ queries }) => markCleared(queries, moveId, timestamp(clock)));
}

/** Makes the former machine what it was before the move. */
async function takeBack(install: InstallRef, machine: HostMachine, moveId: string): Promise<void> {
  await postponing(machine.releaseWebsite(install));
  for (const id of snapshotsOf(moveId)) await postponing(machine.discardSnapshot(install, id));
}
