import type { Generated } from 'kysely';
import type { Json } from './json.ts';

/** A deleted install whose backups are kept. */
export interface DeletedInstallRow {
  seq: Generated<number>;
  /** The id that the install had. */
  id: string;
  account_id: string;
  name: string;
  /** The host with its backups; null if this process is the host. */
  host_id: string | null;
  /** `deleting` until its website is removed and the last backup is made. */
  state: 'deleting' | 'kept';
  /** The backup to restore. */
  backup_id: string;
  /** Why the last backup could not be made; an earlier one is then restored. One sentence. */
  reason: string | null;
  kept: Json;
  deleted_at: string;
  /** When its backups are deleted. */
  expires_at: string;
}
