import type { Queries } from '../../../database/database.ts';
import { lockPlacement } from '../../../database/lock.ts';
import { PermanentHostError } from '../../../hosting/contract/errors.ts';
import type { HostMachine } from '../../../hosting/contract/host.ts';
import type { InstallRef } from '../../../hosting/contract/install-ref.ts';
import type { InstallState } from '../../../hosting/contract/install-state.ts';
import { PermanentFailure, Postponed, type RunningJob } from '../../../jobs/job.ts';
import { timestamp } from '../../../lib/clock.ts';
import type { Platform } from '../../../platform/platform.ts';
import { permanently, postponing } from '../../hosts/host-failures.ts';
import { setHost } from '../../hosts/placement-store.ts';
import { findLoss } from '../../hosts/store.ts';
import { findActiveInstall } from '../../websites/installs/website-store.ts';
import { loadDesiredState } from '../desired-state.ts';
import { copyRepository, sharesRepository } from './copy-repository.ts';
import { holdSeconds, neededBytes } from './rules.ts';
import { changeMove, type findMove, unclearedMoves } from './store.ts';

/** What moves need of the fleet. */
export interface MovingFleet {
  machine(hostId: string): Promise<HostMachine>;
  /** Makes one machine forward the visitors of an install to another. Its own website goes first until it is handed over. */
  forward(installId: string, fromHost: string, toHost: string): Promise<void>;
  /** Tells all other machines where an install is. Does not wait. */
  announce(installId: string): void;
}

type Move = NonNullable<Awaited<ReturnType<typeof findMove>>>;

interface Pair {
  install: InstallRef;
  from: HostMachine;
  to: HostMachine;
}

type MovingJob = Pick<RunningJob, 'signal' | 'progress' | 'log' | 'isHeld'>;

const CANCELLED = 'The move was cancelled.';

/** After a standstill of this process, another may run the same job, with other copies and another hold. */
export function requireOwn({ signal, isHeld }: Pick<MovingJob, 'signal' | 'isHeld'>): void {
  signal.throwIfAborted();
  if (!isHeld()) throw new Postponed('Perhaps another worker continues the job.');
}

/**
 * Runs a move from the step in which it is. Every step can be repeated. Until the new machine is complete and checked, a failure
 * leaves the website on the former one; after that, the move goes forward.
 */
export async function runMove(
  platform: Pick<Platform, 'config' | 'database' | 'sealer' | 'clock' | 'random'>,
  fleet: MovingFleet,
  move: Move,
  job: MovingJob,
): Promise<void> {
  const { database, clock } = platform;
  const ref = await findActiveInstall(database.reader, move.install_id);
  if (ref === undefined) throw new PermanentFailure('The install has no website to move.');
  if (move.step === 'returning') {
    await returnWebsite(platform, fleet, { id: ref.id, name: ref.name }, move.from_host, job);
    return;
  }
  if (move.step !== 'copying' && (await isLost(database.reader, move.from_host))) {
    await takeOver(platform, fleet, move, { id: ref.id, name: ref.name }, job);
    return;
  }
  const pair: Pair = {
    install: { id: ref.id, name: ref.name },
    from: await postponing(fleet.machine(move.from_host)),
    to: await postponing(fleet.machine(move.to_host)),
  };
  const advance = async (from: Move['step'], step: Move['step']) => {
    const isDone = await database.write(({ queries }) => changeMove(queries, move.id, [from], { step }));
    if (!isDone) throw new PermanentFailure(CANCELLED);
  };

  const forward = () => postponing(fleet.forward(ref.id, move.from_host, move.to_host));
  let { step } = move;
  if (step === 'copying') {
    // Its own website goes first until it is handed over, so this changes nothing yet. It fails if the edges do not reach each other.
    await permanently(forward());
    await prepare(platform, pair, move.id, job);
    await advance('copying', 'handing_over');
    step = 'handing_over';
  }
  if (step === 'handing_over') {
    await forward();
    requireOwn(job);
    try {
      await postponing(pair.from.handOver(pair.install));
    } catch (error) {
      if (!(error instanceof PermanentHostError)) throw error;
      // The website may have changed since it was copied, so it is copied again.
      await advance('handing_over', 'copying');
      throw new Error('the hold of the website ended before it was handed over', { cause: error });
    }
    await database.write(async ({ queries }) => {
      const change = { step: 'switched' as const, switched_at: timestamp(clock) };
      if (!(await changeMove(queries, move.id, ['handing_over'], change)))
        throw new PermanentFailure(CANCELLED);
      await setHost(queries, ref.id, move.to_host);
    });
  }
  // A comparison with the database may have taken the route back before the switch.
  await forward();
  fleet.announce(ref.id);
  await postponing(pair.to.releaseWebsite(pair.install));
  for (const id of snapshotsOf(move.id)) await postponing(pair.to.discardSnapshot(pair.install, id));
}

const isLost = async (queries: Queries, hostId: string): Promise<boolean> =>
  ((await findLoss(queries, hostId))?.lost_at ?? null) !== null;

/**
 * Puts the website on the new machine, which has it complete and checked, without the former one, which is lost. If that was not handed over and
 * returns, the comparison with the database sets its copy aside.
 */
async function takeOver(
  { database, clock }: Pick<Platform, 'database' | 'clock'>,
  fleet: MovingFleet,
  move: Move,
  install: InstallRef,
  job: MovingJob,
): Promise<void> {
  const to = await postponing(fleet.machine(move.to_host));
  requireOwn(job);
  if (move.step === 'handing_over') {
    await database.write(async (transaction) => {
      const { queries } = transaction;
      await lockPlacement(transaction);
      if (!(await isLost(queries, move.from_host)))
        throw new Postponed('The former machine was taken back, so it hands the website over.');
      const change = { step: 'switched' as const, switched_at: timestamp(clock) };
      if (!(await changeMove(queries, move.id, ['handing_over'], change)))
        throw new PermanentFailure(CANCELLED);
      await setHost(queries, install.id, move.to_host);
    });
  }
  fleet.announce(install.id);
  await postponing(to.releaseWebsite(install));
  for (const id of snapshotsOf(move.id)) await postponing(to.discardSnapshot(install, id));
}

/** Brings back the copy that the former machine has set aside. The new machine is lost, so it is not called. */
async function returnWebsite(
  platform: Pick<Platform, 'config' | 'database' | 'sealer' | 'clock'>,
  fleet: MovingFleet,
  install: InstallRef,
  hostId: string,
  { signal }: Pick<MovingJob, 'signal'>,
): Promise<void> {
  const desired = await loadDesiredState(platform, install.id);
  if (desired === undefined) throw new PermanentFailure('The install has no website to bring back.');
  const machine = await postponing(fleet.machine(hostId));
  await permanently(postponing(machine.apply(desired, signal)));
  await postponing(machine.releaseWebsite(install));
  fleet.announce(install.id);
}

/** Makes the website complete on the new machine, and checks it there. The former one is held at its end, and released after a failure. */
async function prepare(
  platform: Pick<Platform, 'config' | 'database' | 'sealer' | 'clock' | 'random'>,
  pair: Pair,
  moveId: string,
  job: MovingJob,
): Promise<void> {
  const { install, from, to } = pair;
  const { signal, progress } = job;
  const [first = '', last = ''] = snapshotsOf(moveId);
  const desired = await loadDesiredState(platform, install.id);
  if (desired === undefined) throw new PermanentFailure('The install has no website to move.');
  const call = async <Result>(work: Promise<Result>) => {
    const result = await permanently(postponing(work));
    requireOwn(job);
    return result;
  };

  await requireRoom(pair, signal);
  // Those of attempts that were interrupted, and their hold: the website takes changes until the last copy.
  await call(from.releaseWebsite(install));
  const earlier = await unclearedMoves(platform.database.reader, install.id);
  for (const id of earlier.flatMap((one) => snapshotsOf(one.id)))
    await call(from.discardSnapshot(install, id));
  const before = await call(from.observeWebsite(install, signal));
  await call(to.apply(unserved(desired), signal));
  await call(to.holdWebsite(install, null));

  const began = performance.now();
  const reporter = (step: string) => (done: number, total: number | null) =>
    progress(done, total, 'bytes', step);
  const carry = async (report: ReturnType<typeof reporter>) => {
    const word = platform.random.uuid();
    if (!(await call(sharesRepository(install, from, to, word)))) {
      await call(copyRepository(install, from, to, { signal, report: (bytes) => report(bytes, null) }));
    }
  };
  const copying = reporter('copy');
  await call(from.snapshotBase(install, first, signal, copying));
  await carry(copying);
  await call(to.stageSnapshot(install, first, signal, copying));
  const seconds = holdSeconds((performance.now() - began) / 1_000);
  try {
    await call(from.holdWebsite(install, seconds));
    const changing = reporter('last changes');
    await call(from.snapshotChanges(install, last, first, signal, changing));
    await carry(changing);
    const options = { baseId: first, wordpressVersion: desired.wordpressVersion ?? undefined };
    await call(to.restoreChanges(install, last, options, signal, changing));
    await call(to.apply(desired, signal));
    const fault = await call(to.compareWebsite(install, before, signal));
    if (fault !== null) {
      throw new PermanentFailure(`The website stays where it was, because on the new machine ${fault}.`, {
        code: 'rolled_back',
      });
    }
  } catch (error) {
    await from.releaseWebsite(install).catch((err: unknown) => {
      job.log.warn({ err, install: install.id }, `a website stays read-only for up to ${seconds} s`);
    });
    throw error;
  }
}

async function requireRoom({ install, from, to }: Pair, signal: AbortSignal): Promise<void> {
  const { fileBytes, database } = await permanently(postponing(from.measureStorage(install, signal)));
  const { machine } = await postponing(to.describe());
  if (machine !== undefined && machine.disk.free < neededBytes(fileBytes + (database?.bytes ?? 0))) {
    throw new PermanentFailure('The new machine has too little disk for the website.', { code: 'disk_full' });
  }
}

/** The ids of the two snapshots of a move, which are no backups of the user. */
export function snapshotsOf(moveId: string): string[] {
  // The variant digit of a UUID is 8 to b, so both differ from each other and from every id.
  return ['c', 'd'].map((digit) => `${moveId.slice(0, 19)}${digit}${moveId.slice(20)}`);
}

/** The website under a name that no visitor asks for. */
function unserved(state: InstallState): InstallState {
  const name = `${state.id}.moving.invalid`;
  return {
    ...state,
    isMade: false,
    primaryHostname: name,
    hostnames: [{ name, redirectTo: null, forceHttps: false, certificate: null }],
  };
}
