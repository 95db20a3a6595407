import { truncateSync } from 'node:fs';
import { join } from 'node:path';

/** A backup in the folder of the embedded host. */
interface StoredBackup {
  hostFolder: string;
  installId: string;
  backupId: string;
}

/** The file without which the embedded host does not have a backup. */
export function manifestOf({ hostFolder, installId, backupId }: StoredBackup): string {
  return join(hostFolder, 'snapshots', installId, `${backupId}.backup.jsonl`);
}

/** Breaks a backup, so that a restore finds damage. */
export function damageBackup(backup: StoredBackup): void {
  truncateSync(manifestOf(backup), 50);
}
