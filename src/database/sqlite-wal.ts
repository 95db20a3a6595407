import { closeSync, fdatasync, openSync, realpathSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import Sqlite from 'better-sqlite3';
import { hasCode } from '../lib/error-code.ts';
import { messageOf } from '../lib/error-message.ts';

/** Syncs a file outside the event loop, with what the system needs to read it back. */
export type SyncFile = (descriptor: number) => Promise<void>;

/** As long as PostgreSQL lets a statement run. A disk that hangs must not gather requests without end. */
const PATIENCE_MS = 30_000;

/** The disk of the log, for tests. */
export interface Disk {
  syncFile?: SyncFile;
  patienceMs?: number;
}

/** The write-ahead log of a SQLite file, to which each commit of a connection is written first. */
export interface WriteAheadLog {
  /** Resolves once all commits so far survive a power cut. If the disk fails, ends the process. */
  sync(): Promise<void>;
  /** How long a request waits for a sync. */
  readonly patienceMs: number;
  /**
   * Runs `work` once all commits so far survive a power cut, at the end of a sync in progress or at once. What it reads before it awaits
   * anything cannot be lost. Rejects after `patienceMs`.
   */
  read<Result>(work: () => Result | Promise<Result>): Promise<Result>;
  /** Call after the connections of this process are closed. */
  close(): void;
}

/**
 * Syncs the log of `writing`, whose `synchronous` is NORMAL: its commits write the log without a sync, which would block the event loop. A
 * sync concerns the file, whichever descriptor it goes through. The descriptor stays open, because the system reports a failure of the disk
 * once to each descriptor that was open at that time. SQLite has no locks on this file, so closing it releases none.
 */
export function openWriteAheadLog(
  file: string,
  writing: Sqlite.Database,
  { syncFile = promisify(fdatasync), patienceMs = PATIENCE_MS }: Disk = {},
): WriteAheadLog {
  // Creates the log, which stays until the last connection to the database closes. If a process that could not sync was ended, this writes
  // what is left of its log to the database: the system would not sync that part of the log again.
  try {
    writing.pragma('wal_checkpoint(passive)');
  } catch (error) {
    // Reading, and commands that make room, must work on a full disk or quota. The log stays as it is, and SQLite has synced it.
    if (!hasCode(error, 'SQLITE_FULL', 'SQLITE_IOERR_WRITE')) throw error;
  }
  // Beside the file itself, as SQLite has it, if `file` is a symbolic link.
  const descriptor = openSync(`${realpathSync(file)}-wal`, 'r+');
  const frames = writing.prepare<[], { log: number }>('pragma wal_checkpoint(noop)');
  const changes = writing.prepare('select total_changes()').pluck();
  let synced = state();
  let syncing: Promise<void> | undefined;

  /** Changes with every commit that writes: it adds frames, or begins the log again with other rows. */
  function state(): string {
    return `${frames.get()?.log} ${changes.get()}`;
  }

  async function syncTo(present: string): Promise<void> {
    try {
      await syncFile(descriptor);
    } catch (error) {
      endProcess(file, error);
    }
    synced = present;
    syncing = undefined;
  }

  return {
    async sync() {
      const present = state();
      if (present === synced) return;
      syncing = syncTo(present);
      await syncing;
    },
    async read(work) {
      while (syncing !== undefined) await within(syncing, patienceMs);
      return work();
    },
    patienceMs,
    close: () => closeSync(descriptor),
  };
}

/** The error of a request that waited too long for a sync. SQLite has this code for a database that cannot be used for the time being. */
export const slowDisk = () =>
  new Sqlite.SqliteError('the disk has not stored the latest changes for too long', 'SQLITE_BUSY');

/** Resolves as `sync` does, unless that takes too long. */
function within(sync: Promise<void>, patienceMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(slowDisk()), patienceMs).unref();
    sync.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * After a failed sync, the system may drop what it could not write, and reports success for the next sync. Later commits would be lost with
 * the failed ones. Closing the database would copy dropped pages into it, so the process ends without that. The next start reads the log
 * up to the first page that is damaged.
 */
function endProcess(file: string, error: unknown): never {
  try {
    // Fails if no one reads it, or if the log of the machine is on the same disk.
    writeSync(
      2,
      `homeport: The disk failed to store a change of ${file}: ${messageOf(error)}. The process ends at once, because later changes ` +
        'could be lost, too. Check the disk, then start again.\n',
    );
  } finally {
    process.kill(process.pid, 'SIGKILL');
    // The first process of a container ignores its own signals.
    process.abort();
  }
}
