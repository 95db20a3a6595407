import type { Serially } from '../../../lib/concurrency.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { CommandError } from '../../../lib/run-command.ts';
import type { BackupMove, MovedBackups } from '../../contract/backup-places.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import type { BackupPlaces } from './backup-places.ts';
import { copyRepository } from './copy-repository.ts';
import { UnseenPlaceError } from './place-mark.ts';
import { canonicalId, type RepositoriesOptions } from './repositories.ts';
import { installsIn, placeIn, type RepositoryPlace, type RepositoryRoot } from './repository-place.ts';
import { isWrongPassword, resticOn } from './restic.ts';

export interface MoverOptions extends Omit<RepositoriesOptions, 'places'> {
  places: BackupPlaces;
  /** Locks the repository of an install. */
  onRepository: Serially;
  /** Reads a wanted place. Throws an OperatorError if it is invalid. */
  rootOf(wanted: NonNullable<BackupMove['to']>, option: '--to' | '--from'): RepositoryRoot;
  /** The place in the settings. */
  configured: RepositoryRoot;
  /** Folder for unfinished work. */
  scratch: string;
}

/** A move, with all installs of the host at the moment of the switch. */
export interface WholeMove extends BackupMove {
  installsHere(): Promise<InstallRef[]>;
}

export type MoveRepositories = (
  move: WholeMove,
  signal?: AbortSignal,
  report?: ReportProgress,
) => Promise<MovedBackups>;

/**
 * Moves repositories. First it copies and verifies all of them, while backups go on. Then it switches: each repository is locked in
 * turn, gets the backups made meanwhile, and is used in the new place from then on. So a backup is in the place in use at every moment,
 * and an interrupted move continues where it was.
 */
export function createRepositoryMover(options: MoverOptions): MoveRepositories {
  const { places, passwordOf, onRepository, rootOf, configured } = options;

  /** Without the key of a place that the host knows, a move could not be continued or taken back by its address alone. */
  const withKey = async ({ address, credentials }: NonNullable<BackupMove['to']>) => ({
    address,
    credentials: credentials ?? (await places.keyOf(address)),
  });

  let isMoving = false;

  return async (...parameters) => {
    if (isMoving) throw new PermanentHostError('The backups of this host are being moved already.');
    isMoving = true;
    try {
      return await moveAll(...parameters);
    } finally {
      isMoving = false;
    }
  };

  async function moveAll(
    ...[move, signal, report = () => {}]: Parameters<MoveRepositories>
  ): Promise<MovedBackups> {
    const from = move.from && rootOf(await withKey(move.from), '--from');
    const to = move.to && rootOf(await withKey(move.to), '--to');
    const target = to ?? (from === null ? configured : await places.current());
    await reachable(target);
    const inSource = from === null ? null : new Set(await reachable(from));
    if (from !== null && !move.installs.some(({ id }) => inSource?.has(id))) {
      throw new PermanentHostError(
        `${from.address} has no backups of the installs of this host. Nothing was changed.`,
      );
    }
    const roots = await Promise.all(move.installs.map(({ id }) => places.rootOf(canonicalId(id))));
    for (const root of new Set([...roots, ...(from === null ? [] : [from]), target]))
      await requireSeen(root, places);
    await places.beginMove(target);
    // Backups that were deleted while an earlier attempt was interrupted must not stay in its copies.
    if ((await places.current()).address !== target.address) await applyRemovals();
    let copied = 0;
    let finished = 0;
    const total = await countAll(move.installs);

    async function sourcesOf({ id }: InstallRef): Promise<RepositoryPlace[]> {
      const present = await places.placeOf(canonicalId(id));
      const named = from !== null && inSource?.has(id) ? [placeIn(from, id)] : [];
      return [...named, present].filter(({ address }) => address !== placeIn(target, id).address);
    }

    async function countAll(installs: readonly InstallRef[]): Promise<number> {
      let sum = 0;
      for (const install of installs) {
        for (const { storage } of await sourcesOf(install)) sum += (await storage.list('snapshots')).length;
      }
      return sum;
    }

    /** Copies what the new place lacks. Returns the number of backups in the other places. */
    async function copyOne(install: InstallRef): Promise<number> {
      let backups = 0;
      for (const source of await sourcesOf(install)) {
        if (!(await source.storage.has('config'))) continue;
        const password = await passwordOf(install.id);
        let now = 0;
        const present = await copyRepository(
          source,
          placeIn(target, install.id),
          { ...options, password, signal, claim: () => places.claim(target) },
          () => {
            copied += 1;
            now += 1;
            report(Math.min(finished + now, total), total);
          },
        );
        backups += present.length;
      }
      return backups;
    }

    /** Deletes the copies of repositories that were deleted since the move began. */
    async function applyRemovals(): Promise<void> {
      for (const [id, ids] of Object.entries(await places.deletionsFor(target))) {
        if (ids !== null) continue;
        await onRepository(id, () => placeIn(target, id).storage.removeAll());
        await places.forgetDeletion(target, id);
      }
    }

    /** The same for single backups. */
    async function applyDeletions({ id }: InstallRef): Promise<void> {
      const ids = (await places.deletionsFor(target))[id] ?? [];
      const place = placeIn(target, id);
      if (ids.length === 0 || !(await place.storage.has('config'))) return;
      const restic = resticOn(place, await passwordOf(id));
      const deleted = (await restic.list(signal)).filter(({ tags = [] }) =>
        tags.some((tag) => ids.includes(tag)),
      );
      if (deleted.length > 0) await restic.forget(deleted.map((snapshot) => snapshot.id));
    }

    const explained = <Result>(install: InstallRef, work: Promise<Result>) =>
      work.catch((error: unknown) => {
        signal?.throwIfAborted();
        throw stopped(install, error);
      });

    for (const install of move.installs) {
      signal?.throwIfAborted();
      const backups = await explained(install, copyOne(install));
      if (backups > 0) await explained(install, verify(install, target, options, signal));
      finished += backups;
      report(Math.min(finished, total), total);
    }

    const all = new Map([...move.installs, ...(await move.installsHere())].map((one) => [one.id, one]));
    if (from !== null) await places.addFormer(from);
    await applyRemovals();
    await places.switchTo(target, [...all.keys()]);
    await applyRemovals();
    const counts: number[] = [];
    for (const install of all.values()) {
      signal?.throwIfAborted();
      await onRepository(install.id, async () => {
        await explained(install, copyOne(install));
        await explained(install, applyDeletions(install));
        await places.moved(install.id);
      });
      counts.push((await placeIn(target, install.id).storage.list('snapshots')).length);
    }
    await places.endMove(target);
    return {
      place: target.address,
      installs: counts.filter((count) => count > 0).length,
      backups: counts.reduce((sum, count) => sum + count, 0),
      copied,
    };
  }
}

/** The installs in a place. Call it before anything changes. */
async function reachable(root: RepositoryRoot): Promise<string[]> {
  try {
    return await installsIn(root);
  } catch (error) {
    throw new PermanentHostError(
      `${root.address} cannot be read: ${messageOf(error)}. Nothing was changed.`,
      {
        cause: error,
      },
    );
  }
}

/** Without this, a move from an unmounted disk would leave its backups behind. */
async function requireSeen(root: RepositoryRoot, places: BackupPlaces): Promise<void> {
  try {
    await places.requireSeen(root);
  } catch (error) {
    if (!(error instanceof UnseenPlaceError)) throw error;
    throw new PermanentHostError(`${messageOf(error.cause)}. Nothing was changed.`, { cause: error });
  }
}

/** Reads the structure and a part of the data of a copy. */
async function verify(
  { id }: InstallRef,
  target: RepositoryRoot,
  { passwordOf }: Pick<MoverOptions, 'passwordOf'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  await resticOn(placeIn(target, id), await passwordOf(id)).check(signal);
}

/** restic writes each retry before the reason, and its stack after it. */
function reasonOf(error: unknown): string {
  if (!(error instanceof CommandError)) return messageOf(error);
  const lines = error.stderr.split('\n').filter((line) => line.trim() !== '');
  const reason = lines.find((line) => !/ returned error, retrying after /.test(line)) ?? lines.at(-1);
  return `restic says "${(reason ?? error.message).replace(/^Fatal: /, '').trim()}"`;
}

function stopped({ name }: InstallRef, error: unknown): PermanentHostError {
  const reason = isWrongPassword(error)
    ? 'one of the places has a repository of this install that another sealing key opens; choose an empty place, or put that key back (HOMEPORT_SEALING_KEY_FILE)'
    : reasonOf(error).replace(/\.$/, '');
  return new PermanentHostError(
    `The move stopped at the backups of ${name}: ${reason}. Nothing is lost; the same command continues it.`,
    { cause: error },
  );
}
