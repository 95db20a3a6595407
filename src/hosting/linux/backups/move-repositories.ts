import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Serially } from '../../../lib/concurrency.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { CommandError } from '../../../lib/run-command.ts';
import type { BackupMove, MovedBackups } from '../../contract/backup-places.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { ReportProgress } from '../../contract/progress.ts';
import { watchingDisk } from '../machine/disk-watch.ts';
import type { BackupPlaces } from './backup-places.ts';
import { canonicalId, initialize, type RepositoriesOptions } from './repositories.ts';
import { installsIn, placeIn, type RepositoryPlace, type RepositoryRoot } from './repository-place.ts';
import { isCopied, isWrongPassword, type ListedSnapshot, resticOn } from './restic.ts';

export interface MoverOptions extends Omit<RepositoriesOptions, 'placeOf'> {
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
          { ...options, password, signal },
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
    await places.switchTo(target, [...all.keys()]);
    const counts: number[] = [];
    for (const install of all.values()) {
      signal?.throwIfAborted();
      await onRepository(install.id, async () => {
        await explained(install, copyOne(install));
        await places.moved(install.id);
      });
      counts.push((await placeIn(target, install.id).storage.list('snapshots')).length);
    }
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

/** Reads the structure and a part of the data of a copy. */
async function verify(
  { id }: InstallRef,
  target: RepositoryRoot,
  { passwordOf }: Pick<MoverOptions, 'passwordOf'>,
  signal: AbortSignal | undefined,
): Promise<void> {
  await resticOn(placeIn(target, id), await passwordOf(id)).check(signal);
}

/**
 * Copies the snapshots that a repository lacks, creates the repository if needed, and compares the lists. Returns the snapshots of the
 * source.
 */
async function copyRepository(
  source: RepositoryPlace,
  target: RepositoryPlace,
  { password, signal, ...parts }: CopyOptions,
  copied: () => void,
): Promise<ListedSnapshot[]> {
  const from = resticOn(source, password);
  const to = resticOn(target, password);
  const wanted = await from.list(signal);
  const polynomial = await from.polynomial();
  if (!(await target.storage.has('config'))) await initialize(target, password, parts, polynomial);
  const lacking = await lackingOf(wanted, to.list(signal));
  if (lacking.length === 0) return wanted;
  if (haveSameAccess(source, target)) {
    await copySnapshots(source, target, lacking, { password, signal, copied });
  } else {
    await copyByFolder(source, target, lacking, { ...parts, password, signal, copied, polynomial });
  }
  const left = await lackingOf(wanted, to.list(signal));
  if (left.length > 0) throw new Error(`${left.length} backups are missing in the copy`);
  return wanted;
}

type CopyOptions = Pick<MoverOptions, 'clock' | 'random' | 'scratch'> & {
  password: string;
  signal: AbortSignal | undefined;
};

/** restic reads one key and one region for both repositories. */
function haveSameAccess(source: RepositoryPlace, target: RepositoryPlace): boolean {
  if (source.options.length === 0 || target.options.length === 0) return true;
  const [one, other] = [source, target].map(({ environment, options }) =>
    JSON.stringify([environment, options]),
  );
  return one === other;
}

async function copySnapshots(
  source: RepositoryPlace,
  target: RepositoryPlace,
  ids: readonly string[],
  { password, signal, copied }: { password: string; signal: AbortSignal | undefined; copied(): void },
): Promise<void> {
  const program = resticOn(target, password).copyFrom(source, ids);
  const stop = () => program.stop();
  signal?.addEventListener('abort', stop);
  program.stdin.end();
  try {
    for await (const line of createInterface({ input: program.stdout })) if (isCopied(line)) copied();
    await program.ended;
  } finally {
    signal?.removeEventListener('abort', stop);
  }
  signal?.throwIfAborted();
}

/** By a repository in the scratch folder, which may take up half of the free space. */
async function copyByFolder(
  source: RepositoryPlace,
  target: RepositoryPlace,
  ids: readonly string[],
  { scratch, polynomial, copied, ...options }: CopyOptions & { polynomial: string; copied(): void },
): Promise<void> {
  const { password, signal } = options;
  const between = placeIn(
    { address: join(scratch, 'moved-backups'), credentials: null },
    basename(target.address),
  );
  await between.storage.removeAll();
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  try {
    await watchingDisk(scratch, signal, async (limited) => {
      await initialize(between, password, options, polynomial);
      await copySnapshots(source, between, ids, { password, signal: limited, copied: () => {} });
    });
    const staged = await resticOn(between, password).list(signal);
    await copySnapshots(
      between,
      target,
      staged.map(({ id }) => id),
      { password, signal, copied },
    );
  } finally {
    await between.storage.removeAll();
  }
}

/** Ids of the snapshots whose copy is missing. */
async function lackingOf(
  wanted: readonly ListedSnapshot[],
  present: Promise<ListedSnapshot[]>,
): Promise<string[]> {
  const keyOf = ({ time, tree, tags = [] }: ListedSnapshot) => JSON.stringify([time, tree, tags]);
  const there = new Set((await present).map(keyOf));
  return wanted.filter((snapshot) => !there.has(keyOf(snapshot))).map(({ id }) => id);
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
