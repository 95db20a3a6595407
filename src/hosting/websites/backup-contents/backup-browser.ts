import type { Logger } from 'pino';
import type { Clock } from '../../../lib/clock.ts';
import { serializeByKey } from '../../../lib/concurrency.ts';
import type { BackupBrowser, BackupRefusal } from '../../contract/backup-contents.ts';
import { LostBackupError } from '../../contract/errors.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import { type BackupIndexes, canonicalId, createBackupIndexes, type IndexBackup } from './backup-indexes.ts';
import { type Contents, type IndexedEntry, isDamagedIndex } from './contents-file.ts';
import { type ExtractedFiles, FileTooLargeError } from './extracted-files.ts';

/** The archives of a host: indexes its backups, and reads a file of one. */
export interface BackupArchives {
  index: IndexBackup;
  /** Passes the content of a file to `write`, verified once it resolves. Rejects with a LostBackupError as well. */
  extract(
    install: InstallRef,
    backupId: string,
    found: { contents: Contents; entry: IndexedEntry },
    write: (bytes: Buffer) => Promise<void>,
  ): Promise<void>;
}

/** Its `forget` and `removeAll` delete unpacked files as well. */
export interface BackupContents extends BackupBrowser, BackupIndexes {}

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

/** Browses backups by an index of each. */
export function createBackupContents({
  archives,
  files,
  patienceMs,
  ...kept
}: {
  /** Of the indexes. */
  folder: string;
  archives: BackupArchives;
  files: ExtractedFiles;
  log: Logger;
  clock?: Clock;
  patienceMs?: number;
  /** Time limit of an index. */
  withinMs?: number;
  /** Of all indexes. */
  mostBytes?: number;
}): BackupContents {
  const indexes = createBackupIndexes({ ...kept, index: archives.index });
  const { withContents } = indexes;
  /** One file of an install at a time, because each takes separate processes. */
  const onExtraction = serializeByKey();

  const answer = answersFrom(withContents, patienceMs);

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

    whileMade: indexes.whileMade,

    async forget(installId, backupId) {
      await indexes.forget(installId, backupId);
      await files.forget(`${canonicalId(installId)}/${canonicalId(backupId)}/`);
    },

    async removeAll(installId) {
      await indexes.removeAll(installId);
      await files.forget(`${canonicalId(installId)}/`);
    },
  };
}

/** Answers from indexes of backups, or with why there is no answer yet. */
export function answersFrom(withContents: BackupIndexes['withContents'], patienceMs = PATIENCE_MS) {
  return async function answer<Result>(
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
