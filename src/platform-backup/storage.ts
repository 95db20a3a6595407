import type { Readable } from 'node:stream';

/** Where platform backups are kept: a folder, or a bucket behind the S3 protocol. Errors: OperatorError, and those of the system. */
export interface BackupStorage {
  /** For people, without secrets. */
  readonly address: string;
  /** Begins a backup. Nothing of it shows in `list` before it is finished. */
  begin(name: string): Promise<BackupDraft>;
  /** Names of the complete backups, oldest first. */
  list(): Promise<string[]>;
  /** Bytes of a file of a complete backup; null if there is none. Must be read to its end or destroyed. */
  read(name: string, path: string): Promise<Readable | null>;
  /** Deletes a backup, so that at no moment a part of it looks whole. */
  remove(name: string): Promise<void>;
  /** Deletes what backups left that began before `before` and never finished. Returns their names. */
  removeUnfinished(before: Date): Promise<string[]>;
  close(): void;
}

/** A backup that is being made. */
export interface BackupDraft {
  /** Where to write a new file of the backup; its folder is there. */
  place(path: string): Promise<string>;
  /** Takes over the file written at `place(path)`. */
  keep(path: string, bytes: number, signal?: AbortSignal): Promise<void>;
  /** Writes the manifest, and with it the backup is complete and durable. */
  finish(manifest: string): Promise<void>;
  /** Deletes everything. */
  discard(): Promise<void>;
}

/** `homeport-<time>-<8 hex digits>`: sorts by time. */
export const BACKUP_NAME = /^homeport-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z-[0-9a-f]{8}$/;

export function backupName(at: Date, random: Buffer): string {
  const time = at.toISOString().replace(/[-:]|\.\d+/g, '');
  return `homeport-${time}-${random.toString('hex', 0, 4)}`;
}

/** When a backup of that name began. */
export function beginningOf(name: string): Date | null {
  const [, year, month, day, hour, minute, second] = BACKUP_NAME.exec(name) ?? [];
  const time = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(time.getTime()) ? null : time;
}
