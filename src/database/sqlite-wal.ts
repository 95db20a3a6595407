import { closeSync, fdatasync, openSync, writeSync } from 'node:fs';
import { promisify } from 'node:util';
import type Sqlite from 'better-sqlite3';
import { messageOf } from '../lib/error-message.ts';

/** Syncs a file outside the event loop, with what the system needs to read it back. */
export type SyncFile = (descriptor: number) => Promise<void>;

/** The write-ahead log of a SQLite file, to which each commit of a connection is written first. */
export interface WriteAheadLog {
  /** Resolves once all commits so far survive a power cut. If the disk fails, ends the process. */
  sync(): Promise<void>;
  /** Resolves once what a read would see now survives a power cut. */
  settled(): Promise<void>;
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
  syncFile: SyncFile = promisify(fdatasync),
): WriteAheadLog {
  // Creates the log, which stays until the last connection to the database closes. If a process that could not sync was ended, this writes
  // what is left of its log to the database: the system would not sync that part of the log again.
  writing.pragma('wal_checkpoint(passive)');
  const descriptor = openSync(`${file}-wal`, 'r+');
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
    async settled() {
      while (syncing !== undefined) await syncing;
    },
    close: () => closeSync(descriptor),
  };
}

/**
 * After a failed sync, the system may drop what it could not write, and reports success for the next sync. Later commits would be lost with
 * the failed ones. Closing the database would copy dropped pages into it, so the process ends without that. The next start reads the log
 * up to the first page that is damaged.
 */
function endProcess(file: string, error: unknown): void {
  writeSync(
    2,
    `homeport: The disk failed to store a change of ${file}: ${messageOf(error)}. The process ends at once, because later changes ` +
      'could be lost, too. Check the disk, then start again.\n',
  );
  process.kill(process.pid, 'SIGKILL');
}
