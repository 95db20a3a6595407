import type { InstallRef } from './install-ref.ts';

/** The content of backups, for users who look for one file or table. */
export interface BackupBrowser {
  /**
   * Lists a folder of a backup, folders first, then by name. The first call for a backup may read all of it. Calls are then refused after
   * some seconds, and the caller retries. Later calls read an index.
   */
  browseBackup(
    install: InstallRef,
    backupId: string,
    listing: FolderListing,
  ): Promise<BackupFolder | BackupRefusal>;
  /** Lists the tables of a backup's database by name; none if it has no database. Refused as `browseBackup`. */
  listBackupTables(
    install: InstallRef,
    backupId: string,
    page: EntryPage,
  ): Promise<BackupTables | BackupRefusal>;
  /**
   * Reads at most `MOST_READ_BYTES` of a file in a backup; fewer bytes at its end. The first call fetches and verifies the whole file,
   * and the host keeps it for some minutes.
   */
  readBackupFile(
    install: InstallRef,
    backupId: string,
    part: { path: string; offset: number; length: number },
  ): Promise<BackupFilePart | BackupRefusal>;
}

export interface EntryPage {
  offset: number;
  limit: number;
}

export interface FolderListing extends EntryPage {
  /** As in {@link BackupEntry.path}; empty for the top. */
  folder: string;
}

export interface BackupEntry {
  name: string;
  type: 'folder' | 'file' | 'link';
  /** Null for folders and links. */
  bytes: number | null;
  /** Seconds since 1970; null if the backup has no entry of a folder. */
  modifiedAt: number | null;
  /** Where a link leads; null for others. */
  target: string | null;
}

export interface BackupFolder {
  count: number;
  entries: BackupEntry[];
}

export interface BackupTable {
  name: string;
  /** Size of its part of the dump, or of the table itself; null if unknown. */
  bytes: number | null;
  rows: number | null;
}

export interface BackupTables {
  count: number;
  tables: BackupTable[];
}

/** Content is base64 in messages. */
export interface BackupFilePart {
  /** Of the whole file. */
  size: number;
  bytes: Buffer;
}

/**
 * `reading`: the backup is being read for the first time, or a file of it is being fetched. `path`: the backup has no such entry, or the
 * entry has another kind or is too large. `backup`: it is damaged or gone. `reason`: one sentence for the user.
 */
export interface BackupRefusal {
  refused: 'reading' | 'path' | 'backup';
  reason: string;
}

/** The most entries in one page. */
export const MOST_BACKUP_ENTRIES = 500;
