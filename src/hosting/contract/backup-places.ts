import type { InstallRef } from './install-ref.ts';
import type { ReportProgress } from './progress.ts';

/** A place in the settings that the host does not use, because it lacks the backups. */
export interface RefusedPlace {
  address: string;
  /** The backups in the place in use; null if it could not be read. */
  held: CountedBackups | null;
}

export interface CountedBackups {
  installs: number;
  backups: number;
}

/** Where a host has the backups of its installs. Addresses are folders or `s3:https://endpoint/bucket/prefix`. */
export interface BackupPlacesReport {
  current: string;
  /** When the host switched to it; null if it never did. */
  since: string | null;
  /** The place in the settings. After a move it can still be a former one. */
  configured: string;
  refused: RefusedPlace | null;
  /** Installs whose repository waits to be moved. */
  waiting: string[];
  /** Earlier places, whose repositories are kept. */
  former: string[];
  /** Places in use or earlier ones whose backups cannot be seen. Hosts of earlier versions do not look. */
  unseen?: UnseenPlace[];
  /** Whether the current place is a folder on the disk of the host folder, and lost with it. Hosts of earlier versions do not look. */
  isOnOwnDisk?: boolean;
}

/** A place whose backups cannot be seen now, such as one on a disk that is not mounted. */
export interface UnseenPlace {
  address: string;
  reason: string;
}

/** A place for backups that is not in the settings. */
export interface WantedPlace {
  address: string;
  /** Null for a folder, and for the credentials in the settings. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
}

export interface BackupMove {
  /** The installs whose repositories are moved. */
  installs: readonly InstallRef[];
  /** Null: the place in the settings. */
  to: WantedPlace | null;
  /** Null: wherever the repositories are. Otherwise those of this place are merged into the present ones. */
  from: WantedPlace | null;
}

export interface MovedBackups {
  place: string;
  installs: number;
  backups: number;
  /** Backups that were copied in this run. */
  copied: number;
}

/** Moves the backups of a host's installs to another place. */
export interface BackupMover {
  backupPlaces(): Promise<BackupPlacesReport>;
  /**
   * Copies all backups, verifies the copies, and switches one install after the other. The former repositories stay. Continues an
   * interrupted move. `report` counts backups. Rejects with a PermanentHostError if the operator has to act.
   */
  moveBackups(move: BackupMove, signal?: AbortSignal, report?: ReportProgress): Promise<MovedBackups>;
  /**
   * Switches to the place in the settings without the backups of the present one, which stay there. If that is the present one, its
   * backups count as lost until they are there again.
   */
  acceptBackupPlace(): Promise<BackupPlacesReport>;
  /**
   * Deletes these installs' repositories in all former places, if the present place has the listed backups; otherwise rejects with a
   * PermanentHostError and deletes nothing. Returns the number of deleted repositories.
   */
  forgetFormerBackups(listed: readonly ListedBackups[], signal?: AbortSignal): Promise<number>;
}

/** The backups of an install that the platform lists. */
export interface ListedBackups {
  install: InstallRef;
  backupIds: string[];
}

/** Why a host does not use the place in its settings, and both ways out. */
export function refusedPlaceSentence(current: string, { address, held }: RefusedPlace): string {
  const what = held === null ? 'the backups' : countedBackups(held);
  const verb = held?.backups === 1 ? 'is' : 'are';
  return (
    `HOMEPORT_BACKUP_REPOSITORY is ${address}, but ${what} ${verb} in ${current}. Backups and restores go on there. ` +
    'Run "homeport host backups move" to bring them along, or "homeport host backups accept" to leave them behind.'
  );
}

/** Says what the host refuses while a place cannot be seen, and what the operator can do. */
export function unseenPlaceSentence(
  { current, configured }: BackupPlacesReport,
  unseen: UnseenPlace,
): string {
  const { address, reason } = unseen;
  if (address !== current)
    return `The former backups in ${address} cannot be seen: ${reason}. They stay there.`;
  const accept =
    current === configured
      ? ' If they are lost, "homeport host backups accept" begins with an empty place.'
      : '';
  return (
    `The backups in ${address} cannot be seen: ${reason}. No backup is made, restored or deleted until they can. ` +
    `Connect the place again.${accept}`
  );
}

/** `14 backups of 3 installs`. */
export function countedBackups({ backups, installs }: CountedBackups): string {
  const of = installs === 1 ? '1 install' : `${installs} installs`;
  return `${backups === 1 ? '1 backup' : `${backups} backups`} of ${of}`;
}
