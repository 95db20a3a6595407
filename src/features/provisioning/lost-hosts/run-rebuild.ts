import type { Queries } from '../../../database/database.ts';
import { lockPlacement } from '../../../database/lock.ts';
import { RefusedRestoreError } from '../../../hosting/contract/errors.ts';
import type { HostMachine } from '../../../hosting/contract/host.ts';
import type { InstallRef } from '../../../hosting/contract/install-ref.ts';
import { PermanentFailure, Postponed, type RunningJob } from '../../../jobs/job.ts';
import type { Platform } from '../../../platform/platform.ts';
import { baseOfPoint } from '../../backups/recovery-points/store.ts';
import { isAmong, type Restorable, restorableSnapshots } from '../../backups/restorable-store.ts';
import { permanently, postponing } from '../../hosts/host-failures.ts';
import { knownRestoreOptions } from '../../hosts/known-restore-options.ts';
import { findPlacement, productionCounts, setHost } from '../../hosts/placement-store.ts';
import { chooseHost } from '../../hosts/room.ts';
import { allHosts, findLoss, installCounts, type KnownHost } from '../../hosts/store.ts';
import { findActiveInstall } from '../../websites/installs/website-store.ts';
import { loadDesiredState } from '../desired-state.ts';
import { type MovingFleet, requireOwn } from '../moves/run-move.ts';
import { openMove, unclearedMoves } from '../moves/store.ts';
import { requireNameFree } from '../orphans.ts';
import { changeRebuild, expectedCounts, type findRebuild, markLost } from './rebuild-store.ts';

type Rebuild = NonNullable<Awaited<ReturnType<typeof findRebuild>>>;
type RebuildingFleet = Pick<MovingFleet, 'machine' | 'announce'>;

const CANCELLED = 'The install is no longer on the lost host.';

/**
 * Rebuilds an install from the step in which it is. Every step can be repeated. It stays on the lost host until another one has a backup of
 * it; from then on the other host keeps it closed until the backup is restored.
 */
export async function runRebuild(
  platform: Pick<Platform, 'config' | 'database' | 'sealer' | 'clock'>,
  fleet: RebuildingFleet,
  rebuild: Rebuild,
  {
    hosts,
    signal,
    progress,
    isHeld,
  }: { hosts: readonly string[] | undefined } & Pick<RunningJob, 'signal' | 'progress' | 'isHeld'>,
): Promise<void> {
  const { reader } = platform.database;
  const install = await findActiveInstall(reader, rebuild.install_id);
  if (install === undefined) throw new PermanentFailure('The install was deleted.');
  const placed =
    rebuild.step === 'restoring' && rebuild.to_host !== null && rebuild.backup_id !== null
      ? { hostId: rebuild.to_host, backupId: rebuild.backup_id }
      : await place(platform, fleet, rebuild, { install, hosts });
  // Visitors see that it is closed, and no failure of the lost host.
  fleet.announce(install.id);
  const state = await loadDesiredState(platform, install.id);
  if (state === undefined) throw new PermanentFailure('The install was deleted.');
  const machine = await postponing(fleet.machine(placed.hostId));
  requireOwn({ signal, isHeld });
  await permanently(postponing(machine.makeForRestore(state, signal)));
  const report = (done: number, total: number | null) => progress(done, total, 'bytes');
  // An attempt that was interrupted may have opened the website, and visitors have changed it since.
  const wanted = { wordpressVersion: state.wordpressVersion ?? undefined, restoreId: rebuild.id };
  const options = await postponing(knownRestoreOptions(machine, wanted));
  const restore = async (backupId: string): Promise<void> => {
    const base = (await baseOfPoint(platform.database.reader, backupId)) ?? undefined;
    requireOwn({ signal, isHeld });
    await permanently(postponing(machine.restore(install, backupId, { ...options, base }, signal, report)));
  };
  await restoreReadable(platform, rebuild, { machine, install, backupId: placed.backupId, restore });
}

/** Restores the backup, or if it is damaged or gone, the next best one. An older website is worth more than none. */
async function restoreReadable(
  { database }: Pick<Platform, 'database'>,
  rebuild: Rebuild,
  {
    machine,
    install,
    restore,
    ...first
  }: {
    machine: Pick<HostMachine, 'heldBackups'>;
    install: InstallRef;
    backupId: string;
    restore(backupId: string): Promise<void>;
  },
): Promise<void> {
  for (let { backupId } = first; ; ) {
    try {
      return await restore(backupId);
    } catch (error) {
      if (!isOfLostBackup(error)) throw error;
      const held = await heldBackups(database.reader, machine, install);
      const next = held[held.findIndex(({ id }) => id === backupId) + 1];
      if (next === undefined) throw error;
      const reason = `The newest backup is damaged or gone, so an older one was restored: ${error.message}`;
      await database.write(({ queries }) =>
        changeRebuild(queries, rebuild.id, ['restoring'], {
          ...{ backup_id: next.id, backup_at: next.covered_at, reason },
        }),
      );
      backupId = next.id;
    }
  }
}

const isOfLostBackup = (error: unknown): error is PermanentFailure =>
  error instanceof PermanentFailure && error.cause instanceof RefusedRestoreError && error.cause.isLost;

/** Puts the install on a host that has a backup of it. Of several, the one that placement prefers. */
async function place(
  { database }: Pick<Platform, 'database'>,
  fleet: RebuildingFleet,
  rebuild: Rebuild,
  { install, hosts }: { install: InstallRef; hosts: readonly string[] | undefined },
): Promise<{ hostId: string; backupId: string }> {
  const without: KnownHost[] = [];
  for (;;) {
    const host = await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockPlacement(transaction);
      await requireLost(queries, rebuild);
      const found = await choose(queries, install.id, { hosts, without });
      // Written before it is asked: a host gets the password of backups only if the install is or comes there.
      const to_host = found?.id ?? null;
      if (!(await changeRebuild(queries, rebuild.id, ['placing'], { to_host })))
        throw new PermanentFailure(CANCELLED);
      return found;
    });
    if (host === undefined) throw new PermanentFailure(unreached(without));
    await requireFree(database.reader, host, install);
    const machine = await postponing(fleet.machine(host.id));
    const [backup] = await heldBackups(database.reader, machine, install);
    if (backup === undefined) {
      without.push(host);
      continue;
    }
    await removeUnfinishedMove(database.reader, fleet, host, install);
    await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockPlacement(transaction);
      await requireLost(queries, rebuild);
      await setHost(queries, install.id, host.id);
      await markLost(queries, install.id, 'Its machine was lost. It is being made again from a backup.');
      const change = { step: 'restoring' as const, backup_id: backup.id, backup_at: backup.covered_at };
      if (!(await changeRebuild(queries, rebuild.id, ['placing'], change)))
        throw new PermanentFailure(CANCELLED);
    });
    return { hostId: host.id, backupId: backup.id };
  }
}

/**
 * Removes what a move to this host had copied when the former one was given up. It takes no changes and has other names, and a restore would fill it
 * as it is.
 */
async function removeUnfinishedMove(
  queries: Queries,
  fleet: RebuildingFleet,
  host: KnownHost,
  install: InstallRef,
): Promise<void> {
  const left = (await unclearedMoves(queries, install.id)).some(
    ({ to_host, step }) => to_host === host.id && UNFINISHED.has(step),
  );
  if (!left) return;
  const machine = await postponing(fleet.machine(host.id));
  await permanently(postponing(machine.remove(install, { keepBackups: true })));
}

const UNFINISHED: ReadonlySet<string> = new Set(['failed', 'cancelled']);

const requireFree = (queries: Queries, host: KnownHost, install: InstallRef) =>
  permanently(requireNameFree(queries, host.id, install));

/** The operator may have taken the host back, or the install may be elsewhere. */
async function requireLost(queries: Queries, { install_id, from_host }: Rebuild): Promise<void> {
  const placement = await findPlacement(queries, install_id);
  const loss = await findLoss(queries, from_host);
  if ((await openMove(queries, install_id)) !== undefined) {
    throw new PermanentFailure(
      'A move of it is being completed. End that first ("homeport install move --help").',
    );
  }
  if (placement?.host_id !== from_host || (loss?.lost_at ?? null) === null)
    throw new PermanentFailure(CANCELLED);
}

/** Undefined if only hosts of `without` are left. Rejects with the reason if no host suits the install. */
async function choose(
  queries: Queries,
  installId: string,
  { hosts, without }: { hosts: readonly string[] | undefined; without: readonly KnownHost[] },
): Promise<KnownHost | undefined> {
  const install = await findPlacement(queries, installId);
  if (install === undefined) throw new PermanentFailure('The install was deleted.');
  const counts = await installCounts(queries);
  for (const [id, expected] of await expectedCounts(queries, installId))
    counts.set(id, (counts.get(id) ?? 0) + expected);
  const neighbours =
    install.environment === 'production' ? await productionCounts(queries, install.account_id) : new Map();
  const all = (await allHosts(queries)).filter(({ id }) => hosts === undefined || hosts.includes(id));
  const left = all.filter(({ id }) => !without.some((host) => host.id === id));
  const choice = chooseHost(left, counts, { ...install, neighbours });
  if (!('refusal' in choice)) return choice.host;
  if (!choice.permanent) throw new Postponed(choice.refusal);
  if (without.length > 0) return undefined;
  throw new PermanentFailure(choice.refusal);
}

/** The backups of an install that a host has, the best first. */
async function heldBackups(
  queries: Queries,
  machine: Pick<HostMachine, 'heldBackups'>,
  install: InstallRef,
): Promise<Restorable[]> {
  const held = new Set(await permanently(postponing(machine.heldBackups(install))));
  return (await restorableSnapshots(queries, install.id)).filter((one) => isAmong(one, held));
}

function unreached(hosts: readonly KnownHost[]): string {
  const names = hosts.map(({ name }) => name).join(', ');
  return `No backup of it is where ${names} ${hosts.length === 1 ? 'has its' : 'have their'} backups. They were on the lost machine only, or in another place.`;
}
