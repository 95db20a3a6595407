import type { ReportProgress } from '../../contract/progress.ts';
import type { Snapshot } from '../../contract/snapshots.ts';
import type { ContentsWriter, IndexedEntry } from '../../websites/backup-contents/contents-file.ts';
import type { ChosenItems } from './archive-extract.ts';
import type { IndexOptions } from './snapshot-contents.ts';

export interface Reading {
  signal?: AbortSignal | undefined;
  report?: ReportProgress | undefined;
}

/**
 * A backup that this host holds, in one of two forms: its contents are in the chunks of a store (stored-backup.ts), or it is an archive of
 * an earlier version (archived-backup.ts). Errors of all operations: DamagedArchiveError.
 */
export interface HeldBackup {
  /** Reads and checks all of it. */
  verify(signal?: AbortSignal): Promise<Snapshot>;
  /** Unpacks all of it into a new folder. Every byte is verified once it resolves. */
  extract(folder: string, options: Reading): Promise<Snapshot>;
  extractChosen(folder: string, chosen: ChosenItems, options: Reading): Promise<void>;
  /** Passes it on as an uncompressed tar archive, verified before its first and after its last byte. */
  unpack(write: (bytes: Buffer) => Promise<void>, signal?: AbortSignal): Promise<void>;
  /** Lists it in an index. */
  index(writer: ContentsWriter, options: IndexOptions): Promise<Snapshot>;
  /** Passes the content of a file to `write`, verified once it resolves. */
  extractFile(entry: IndexedEntry, write: (bytes: Buffer) => Promise<void>): Promise<void>;
}
