import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from 'pino';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { parseUuid } from '../../../lib/ids.ts';
import { ifThere } from '../../../lib/if-there.ts';
import type { BackupBrowser, BackupRefusal } from '../../contract/backup-contents.ts';
import { LostBackupError, PermanentHostError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { Snapshot } from '../../contract/snapshots.ts';
import {
  type Contents,
  type ContentsWriter,
  type IndexedEntry,
  isDamagedIndex,
  openContents,
  writeContents,
} from './contents-file.ts';
import { type ExtractedFiles, FileTooLargeError } from './extracted-files.ts';

/** The archives of a host: indexes its backups, and reads a file of one. */
export interface BackupArchives {
  /** Reads and verifies a backup, and lists it in the writer. Rejects with a LostBackupError if it is damaged or missing. */
  index(install: InstallRef, backupId: string, writer: ContentsWriter): Promise<Snapshot>;
  /** Passes the content of a file to `write`, verified once it resolves. Rejects with a LostBackupError as well. */
  extract(
    install: InstallRef,
    backupId: string,
    found: { contents: Contents; entry: IndexedEntry },
    write: (bytes: Buffer) => Promise<void>,
  ): Promise<void>;
}

export interface BackupContents extends BackupBrowser {
  /** Runs `work` with the index of a backup, and makes the index first if needed. Rejects as {@link BackupArchives.index}. */
  withContents<Result>(
    install: InstallRef,
    backupId: string,
    work: (contents: Contents) => Promise<Result>,
  ): Promise<Result>;
  /** Begins the index of a new backup, which `fill` lists while the backup is verified. A failure of the index is no failure of the backup. */
  whileMade(
    installId: string,
    backupId: string,
    fill: (writer: ContentsWriter | null) => Promise<Snapshot>,
  ): Promise<Snapshot>;
  /** Deletes the index of a backup. */
  forget(installId: string, backupId: string): Promise<void>;
  /** Deletes all indexes of an install. */
  removeAll(installId: string): Promise<void>;
}

/** A caller waits no longer for the first reading of a backup. */
const PATIENCE_MS = 8_000;
const READING: BackupRefusal = {
  refused: 'reading',
  reason: 'The backup is being read for the first time, which takes minutes if it is large. Try again soon.',
};

/** The same for a file, in a backup that may be well known. */
const FETCHING: BackupRefusal = {
  refused: 'reading',
  reason:
    'The file is being fetched from the backup, which takes minutes if one of them is large. Try again soon.',
};

const notIn = (reason: string): BackupRefusal => ({ refused: 'path', reason });

/** Browses backups by an index of each: `<folder>/<install id>/<backup id>.sqlite`. */
export function createBackupContents({
  folder,
  archives,
  files,
  log,
  patienceMs = PATIENCE_MS,
}: {
  folder: string;
  archives: BackupArchives;
  files: ExtractedFiles;
  log: Logger;
  patienceMs?: number;
}): BackupContents {
  const folderOf = (installId: string) => join(folder, canonicalId(installId));
  const fileOf = (installId: string, backupId: string) =>
    join(folderOf(installId), `${canonicalId(backupId)}.sqlite`);
  const onIndex = serializeByKey();
  /** One file of an install at a time, because each takes separate processes. */
  const onExtraction = serializeByKey();
  const making = new Map<string, Promise<void>>();

  async function opened(installId: string, backupId: string): Promise<Contents | null> {
    const file = fileOf(installId, backupId);
    if ((await ifThere(stat(file))) === null) return null;
    try {
      return openContents(file);
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
    if (present !== undefined) return present;
    // One at a time, because each can read a whole backup.
    const made = onIndex('', async () => {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      const writer = await writeContents(file);
      try {
        await writer.finish(await archives.index(install, backupId, writer));
      } finally {
        await writer.discard();
      }
    }).finally(() => making.delete(file));
    making.set(file, made);
    // Everyone may have stopped waiting.
    made.catch((err: unknown) => {
      if (err instanceof PermanentHostError) return;
      log.warn({ err, install: install.id, backup: backupId }, 'could not read a backup for its index');
    });
    return made;
  }

  async function contentsOf(install: InstallRef, backupId: string): Promise<Contents> {
    const present = await opened(install.id, backupId);
    if (present !== null) return present;
    await make(install, backupId);
    const made = await opened(install.id, backupId);
    if (made === null) throw new Error('a new index of a backup is gone');
    return made;
  }

  async function withContents<Result>(
    install: InstallRef,
    backupId: string,
    work: (contents: Contents) => Promise<Result>,
  ): Promise<Result> {
    const contents = await contentsOf(install, backupId);
    try {
      return await work(contents);
    } catch (err) {
      if (isDamagedIndex(err)) await dropUnreadable(install.id, backupId, err);
      throw err;
    } finally {
      contents.close();
    }
  }

  /** The answer of `work`, or why there is none yet. */
  async function answer<Result>(
    install: InstallRef,
    backupId: string,
    work: (contents: Contents) => Promise<Result>,
    waiting = READING,
  ): Promise<Result | BackupRefusal> {
    const asked = withContents(install, backupId, work).catch((error: unknown) => {
      if (!isDamagedIndex(error)) throw error;
      return withContents(install, backupId, work);
    });
    // The work continues if all callers have stopped waiting.
    asked.catch(() => {});
    try {
      return await within(patienceMs, asked, waiting);
    } catch (error) {
      if (error instanceof LostBackupError) return { refused: 'backup', reason: error.message };
      throw error;
    }
  }

  return {
    withContents,

    browseBackup: (install, backupId, { folder: path, ...page }) =>
      answer(
        install,
        backupId,
        async (contents) => contents.list(path, page) ?? notIn(`The backup has no folder "${path}".`),
      ),

    listBackupTables: (install, backupId, page) =>
      answer(install, backupId, async (contents) => contents.tables(page)),

    readBackupFile: (install, backupId, { path, offset, length }) =>
      answer(
        install,
        backupId,
        async (contents) => {
          const entry = contents.find(path);
          if (entry === null) return notIn(`The backup has no file "${path}".`);
          if (entry.type !== 'file') {
            const kind = entry.type === 'link' ? `a link to "${entry.target}"` : 'a folder';
            return notIn(`"${path}" is ${kind}, not a file.`);
          }
          try {
            return await files.read(
              `${canonicalId(install.id)}/${canonicalId(backupId)}/${path}`,
              { offset, length, size: entry.bytes ?? 0 },
              // Within `withContents`, whose index stays open for it.
              (write) =>
                onExtraction(install.id, () =>
                  archives.extract(install, backupId, { contents, entry }, write),
                ),
            );
          } catch (error) {
            if (error instanceof FileTooLargeError) return notIn(error.message);
            throw error;
          }
        },
        FETCHING,
      ),

    async whileMade(installId, backupId, fill) {
      const file = fileOf(installId, backupId);
      const writer = await mkdir(dirname(file), { recursive: true, mode: 0o700 })
        // The index of an earlier attempt would not fit the new backup.
        .then(() => rm(file, { force: true }))
        .then(() => writeContents(file))
        .catch((err: unknown) => {
          log.warn(
            { err, install: installId },
            'could not begin the index of a backup; it is made when needed',
          );
          return null;
        });
      try {
        const result = await fill(writer);
        await writer?.finish(result).catch((err: unknown) => {
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
      const file = fileOf(installId, backupId);
      for (const name of [file, `${file}.part`]) await rm(name, { force: true });
      await files.forget(`${canonicalId(installId)}/${canonicalId(backupId)}/`);
      const rest = (await ifThere(readdir(folderOf(installId)))) ?? ['?'];
      if (rest.length === 0) await rm(folderOf(installId), { recursive: true, force: true });
    },

    async removeAll(installId) {
      await rm(folderOf(installId), { recursive: true, force: true });
      await files.forget(`${canonicalId(installId)}/`);
    },
  };
}

/** The outcome of work, or `waiting` if that takes too long. The work goes on. */
async function within<Result>(
  limitMs: number,
  work: Promise<Result>,
  waiting: BackupRefusal,
): Promise<Result | BackupRefusal> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<BackupRefusal>((resolve) => {
    timer = setTimeout(() => resolve(waiting), limitMs);
  });
  try {
    return await Promise.race([work, patience]);
  } finally {
    clearTimeout(timer);
  }
}

/** Ids become names of files, so only UUIDs are accepted. */
function canonicalId(id: string): string {
  if (parseUuid(id) !== id) throw new PermanentHostError(`${JSON.stringify(id)} is not a lower-case UUID.`);
  return id;
}
