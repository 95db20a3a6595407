import type { Readable } from 'node:stream';

/** Where a file of a backup is in its storage. */
export interface FilePlace {
  path: string;
  /** The backup that stored the file, if backups share it. */
  stored_in?: string;
}

/** Folder of a bucket, or of its copy on a disk, with the files that backups share. Below it, each backup that stored some has a folder. */
export const SHARED = 'files';

/** Storage of platform backups: a folder or an S3 bucket. Errors: OperatorError, and system errors. */
export interface BackupStorage {
  /** For people, without secrets. */
  readonly address: string;
  /** Begins a backup. `list` shows it only once it is finished. */
  begin(name: string): Promise<BackupDraft>;
  /** Names of the complete backups, oldest first. */
  list(): Promise<string[]>;
  /** Opens a file of a complete backup, from a position on; null if it does not exist. The stream must be read to its end or destroyed. */
  read(name: string, file: FilePlace, from?: number): Promise<Readable | null>;
  /** Deletes a backup. No part of it ever looks complete. */
  remove(name: string): Promise<void>;
  /** Deletes the remains of unfinished backups begun before `before`. Returns their names. */
  removeUnfinished(before: Date): Promise<string[]>;
  /** Deletes files that backups shared and that none uses any more. */
  removeUnused(options: UnusedOptions): Promise<void>;
  close(): void;
}

export interface UnusedOptions {
  /** No process still works on a backup that began before. */
  before: Date;
  /** The complete backups with all of their files; null if that is unknown. */
  used(): Promise<{ backups: string[]; files: FilePlace[] } | null>;
}

/** A backup in progress. */
export interface BackupDraft {
  /** The path for a new file of the backup; its folder exists. */
  place(path: string): Promise<string>;
  /** Takes over the file written at `place(path)`. `isShared`: later backups may reuse it. */
  keep(path: string, bytes: number, options: KeepOptions): Promise<FilePlace>;
  /** Reuses the file of an earlier backup, and drops the one at `place(path)`. Null, without a change, if that is not possible. */
  reuse(backup: string, file: FilePlace & { bytes: number }): Promise<FilePlace | null>;
  /** Writes the manifest, and with it the backup is complete and durable. */
  finish(manifest: string): Promise<void>;
  /** Deletes everything. */
  discard(): Promise<void>;
}

export interface KeepOptions {
  isShared: boolean;
  signal?: AbortSignal | undefined;
}

/** `homeport-<time>-<8 hex digits>`: sorts by time. Names of earlier versions have no milliseconds. */
export const BACKUP_NAME = /^homeport-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})(\d{3})?Z-[0-9a-f]{8}$/;

export function backupName(at: Date, random: Buffer): string {
  const time = at.toISOString().replace(/[-:.]/g, '');
  return `homeport-${time}-${random.toString('hex', 0, 4)}`;
}

/** The start time in a backup's name. */
export function beginningOf(name: string): Date | null {
  const parts = BACKUP_NAME.exec(name);
  if (parts === null) return null;
  const [, year, month, day, hour, minute, second, millisecond = '000'] = parts;
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millisecond}Z`);
  return Number.isNaN(time.getTime()) ? null : time;
}
