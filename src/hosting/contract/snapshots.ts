import type { InstallRef } from './install-ref.ts';
import type { RemovedInstall } from './install-state.ts';
import type { ReportProgress } from './progress.ts';

/** Snapshots of websites, which backups are made of. */
export interface SnapshotKeeper {
  /**
   * Makes a consistent snapshot of the website under `backupId`, reads back what it stored and verifies every checksum before it
   * resolves. Replaces a partial snapshot of an interrupted run.
   */
  snapshot(
    install: InstallRef,
    backupId: string,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<Snapshot>;
  /**
   * Restores the website exactly as in the snapshot. Verifies the whole snapshot before it touches the website, and never leaves it half
   * restored. Parts that are left out stay as they are. If it fails before it replaces anything, it rejects with a
   * RefusedRestoreError or an UnchangedWebsiteError.
   */
  restore(
    install: InstallRef,
    backupId: string,
    options?: RestoreOptions,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<RestoredSnapshot>;
  /** Deletes a complete or partial snapshot. A missing snapshot is success. */
  discardSnapshot(install: InstallRef, backupId: string): Promise<void>;
  /** Ids of the backups of an install that the host holds, complete ones and others. Reads no content. */
  heldBackups(install: InstallRef): Promise<string[]>;
  /** Deletes the snapshots that `remove` kept. Success without any; rejects if the website exists. */
  removeBackups(install: RemovedInstall): Promise<void>;

  /**
   * Writes a snapshot as one `.tar.gz` for download, with the files and the database dump, and verifies the snapshot meanwhile.
   * Replaces an earlier archive of that id.
   */
  pack(
    install: InstallRef,
    ids: { backupId: string; archiveId: string },
    signal?: AbortSignal,
  ): Promise<PackedArchive>;
  /**
   * Reads at most {@link MOST_READ_BYTES} of a packed archive; fewer bytes at its end. Rejects with a PermanentHostError if
   * there is no such archive.
   */
  readPacked(
    install: InstallRef,
    archiveId: string,
    part: { offset: number; length: number },
  ): Promise<Buffer>;
  /** Deletes a packed archive. A missing one is success. */
  discardPacked(install: InstallRef, archiveId: string): Promise<void>;
}

export interface RestoreOptions {
  /** The install of the snapshot, if it is another one. The website keeps the names of the restored install. */
  from?: InstallRef | null | undefined;
  /** Default: everything. */
  parts?: RestoredParts | undefined;
  /** The WordPress of the snapshot, which the website gets again. Default: it keeps its present one. */
  wordpressVersion?: string | undefined;
  /**
   * Of this restore. If the same one has made the present website, it replaces nothing again, and completes the rest. Its answer may
   * have been lost, and visitors may have changed the website since. Hosts of earlier versions know no ids.
   */
  restoreId?: string | undefined;
  /** The recovery point with the files that the restored recovery point leaves out. Only for a whole restore into the install itself. */
  base?: string | undefined;
}

/** The parts of a website that a restore replaces. */
export interface RestoredParts {
  files: boolean;
  /**
   * Only these files and folders, by their paths in the backup. They replace those of the same name, and files that the backup lacks stay.
   * Default: all files, exactly as in the backup.
   */
  paths?: readonly string[] | undefined;
  /** The whole database, nothing of it, or these tables. A host without databases accepts no names of tables. */
  database: 'all' | 'none' | readonly string[];
  /** Whether named tables that the backup lacks are dropped. Default: the restore is refused. */
  dropAbsent?: boolean | undefined;
}

export const ALL_PARTS: RestoredParts = { files: true, database: 'all' };

export const isWhole = ({ files, paths, database }: RestoredParts): boolean =>
  files && paths === undefined && database === 'all';

/** The most bytes that one call of `readPacked` returns. */
export const MOST_READ_BYTES = 1024 * 1024;

/** A `.tar.gz` for download. */
export interface PackedArchive {
  bytes: number;
  /** Of the `.tar.gz`, lower-case hex. */
  sha256: string;
}

/** The snapshot that a website was restored from. */
export interface RestoredSnapshot extends Snapshot {
  /** Faults of the restored website, on one line without a full stop. It stays in place. */
  warning?: string | undefined;
}

export interface Snapshot {
  /** Size in bytes: of the contents, without holes, or of the archive. */
  bytes: number;
  /** Number of regular files in it. */
  files: number;
  /** SHA-256 of the archive, or of the manifest that lists all contents by their SHA-256; lower-case hex. */
  sha256: string;
}
