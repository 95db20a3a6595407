import { mkdir, readdir, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { type Clock, systemClock } from '../../../lib/clock.ts';
import { limitConcurrency, untilAborted } from '../../../lib/concurrency.ts';
import { HOUR_MS } from '../../../lib/durations.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { parseUuid } from '../../../lib/ids.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { LostBackupError, PermanentHostError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { Snapshot } from '../../contract/snapshots.ts';
import {
  type Contents,
  type ContentsWriter,
  isDamagedIndex,
  openContents,
  writeContents,
} from './contents-file.ts';
import { createIndexRoom, INDEX } from './index-room.ts';

/** Reads and verifies a backup, and lists it in the writer. Rejects with a LostBackupError if it is damaged or missing. */
export type IndexBackup = (
  install: InstallRef,
  backupId: string,
  writer: ContentsWriter,
  signal: AbortSignal,
) => Promise<Snapshot>;

/** Indexes of the backups of a host. They are made when needed, and deleted when they take too much space. */
export interface BackupIndexes {
  /**
   * Runs `work` with the index of a backup, and makes the index first if needed. Rejects as {@link IndexBackup}. An aborted `signal` ends
   * the wait, while the index is still made.
   */
  withContents<Result>(
    install: InstallRef,
    backupId: string,
    work: (contents: Contents) => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result>;
  /** Begins the index of a new backup, which `fill` lists while the backup is verified. A failure of the index is no failure of the backup. */
  whileMade(
    installId: string,
    backupId: string,
    fill: (writer: ContentsWriter | null) => Promise<Snapshot>,
  ): Promise<Snapshot>;
  /** Deletes the index of a backup, also one that is being made. */
  forget(installId: string, backupId: string): Promise<void>;
  /** Deletes all indexes of an install. */
  removeAll(installId: string): Promise<void>;
}

/** How many are made at a time, because each can read a whole backup. */
const AT_ONCE = 2;
/** A repository can be out of reach, and others wait. */
const WITHIN_MS = HOUR_MS;
/** About 30 million entries. */
const MOST_BYTES = 2 * 1024 ** 3;

interface Making {
  made: Promise<void>;
  forgotten: AbortController;
}

/** Keeps `<folder>/<install id>/<backup id>.sqlite`. */
export function createBackupIndexes({
  folder,
  index,
  log,
  clock = systemClock,
  withinMs = WITHIN_MS,
  mostBytes = MOST_BYTES,
}: {
  folder: string;
  index: IndexBackup;
  log: Logger;
  clock?: Clock | undefined;
  withinMs?: number | undefined;
  mostBytes?: number | undefined;
}): BackupIndexes {
  const folderOf = (installId: string) => join(folder, canonicalId(installId));
  const fileOf = (installId: string, backupId: string) =>
    join(folderOf(installId), `${canonicalId(backupId)}${INDEX}`);
  const inTurn = limitConcurrency(AT_ONCE);
  const room = createIndexRoom({ folder, mostBytes, clock, log });
  const making = new Map<string, Making>();

  async function opened(installId: string, backupId: string): Promise<Contents | null> {
    const file = fileOf(installId, backupId);
    if ((await ifThere(stat(file))) === null) return null;
    try {
      const contents = openContents(file);
      await room.used(file);
      return contents;
    } catch (err) {
      await dropUnreadable(installId, backupId, err);
      return null;
    }
  }

  async function dropUnreadable(installId: string, backupId: string, err: unknown): Promise<void> {
    log.warn({ err, install: installId, backup: backupId }, 'making an unreadable index of a backup again');
    await rm(fileOf(installId, backupId), { force: true });
  }

  /** Makes an index that is missing, once for all who wait for it. */
  function make(install: InstallRef, backupId: string): Promise<void> {
    const file = fileOf(install.id, backupId);
    const present = making.get(file);
    if (present !== undefined) return present.made;
    const forgotten = new AbortController();
    const made = inTurn(() => write(install, backupId, forgotten.signal)).finally(() => making.delete(file));
    making.set(file, { made, forgotten });
    // Everyone may have stopped waiting.
    made.catch((err: unknown) => {
      if (err instanceof PermanentHostError) return;
      log.warn({ err, install: install.id, backup: backupId }, 'could not read a backup for its index');
    });
    return made;
  }

  async function write(install: InstallRef, backupId: string, forgotten: AbortSignal): Promise<void> {
    forgotten.throwIfAborted();
    const file = fileOf(install.id, backupId);
    const late = AbortSignal.timeout(withinMs);
    const signal = AbortSignal.any([forgotten, late]);
    const writer = await begin(file);
    try {
      // What ends late, or waits for a repository that a backup occupies, must not hold the others.
      await writer.finish(await untilAborted(index(install, backupId, writer, signal), signal));
    } catch (cause) {
      forgotten.throwIfAborted();
      throw late.aborted ? new Error('reading the backup took too long', { cause }) : cause;
    } finally {
      await writer.discard();
    }
    // The backup can be deleted as soon as it is read.
    if (forgotten.aborted) await rm(file, { force: true });
    forgotten.throwIfAborted();
    await room.added(file);
  }

  async function begin(file: string): Promise<ContentsWriter> {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    return writeContents(file);
  }

  async function contentsOf(
    install: InstallRef,
    backupId: string,
    signal: AbortSignal | undefined,
  ): Promise<Contents> {
    const present = await opened(install.id, backupId);
    if (present !== null) return present;
    await untilAborted(make(install, backupId), signal);
    const made = await opened(install.id, backupId);
    if (made === null) throw new Error('a new index of a backup is gone');
    return made;
  }

  return {
    async withContents(install, backupId, work, signal) {
      const contents = await contentsOf(install, backupId, signal);
      try {
        return await work(contents);
      } catch (err) {
        if (isDamagedIndex(err)) await dropUnreadable(install.id, backupId, err);
        throw err;
      } finally {
        contents.close();
      }
    },

    async whileMade(installId, backupId, fill) {
      const file = fileOf(installId, backupId);
      // The index of an earlier attempt would not fit the new backup.
      const writer = await rm(file, { force: true })
        .then(() => begin(file))
        .catch((err: unknown) => {
          log.warn(
            { err, install: installId },
            'could not begin the index of a backup; it is made when needed',
          );
          return null;
        });
      try {
        const result = await fill(writer);
        if (writer === null) return result;
        await writer
          .finish(result)
          .then(() => room.added(file))
          .catch((err: unknown) => {
            log.warn(
              { err, install: installId },
              'could not finish the index of a backup; it is made when needed',
            );
          });
        return result;
      } finally {
        await writer?.discard();
      }
    },

    async forget(installId, backupId) {
      const own = folderOf(installId);
      const deleted = new LostBackupError('The backup was deleted meanwhile.');
      making.get(fileOf(installId, backupId))?.forgotten.abort(deleted);
      const names = (await ifThere(readdir(own))) ?? [];
      const isMine = (name: string) => name.startsWith(`${backupId}.`);
      for (const name of names.filter(isMine)) await rm(join(own, name), { force: true });
      if (names.every(isMine)) await removeIfEmpty(own);
    },

    async removeAll(installId) {
      const own = folderOf(installId);
      const removed = new Error('the indexes of the install were removed meanwhile');
      for (const [file, { forgotten }] of making) if (dirname(file) === own) forgotten.abort(removed);
      await rm(own, { recursive: true, force: true });
    },
  };
}

async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch((error: unknown) => {
    if (!hasCode(error, 'ENOTEMPTY', 'EEXIST', 'ENOENT')) throw error;
  });
}

/** Ids become names of files, so only UUIDs are accepted. */
export function canonicalId(id: string): string {
  if (parseUuid(id) !== id) throw new PermanentHostError(`${JSON.stringify(id)} is not a lower-case UUID.`);
  return id;
}
