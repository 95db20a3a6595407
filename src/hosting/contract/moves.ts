import Type from 'typebox';
import type { InstallRef } from './install-ref.ts';
import type { ReportProgress } from './progress.ts';
import type { Snapshot } from './snapshots.ts';

/** Moves a website to another machine. The control plane carries what one machine has to the other: hosts do not know each other. */
export interface WebsiteMover {
  /**
   * Holds a website: visitors read it, and no one changes it. Sessions, scheduled tasks and WP-CLI end, and requests in progress are finished or
   * ended when it resolves. `seconds`: the hold ends by itself after that time, so that a dead control plane leaves no website
   * read-only. Null: it stays until {@link releaseWebsite}, for a website that is not in service yet.
   */
  holdWebsite(install: InstallRef, seconds: number | null): Promise<void>;
  /** Ends the hold. Succeeds without one, and without the website. */
  releaseWebsite(install: InstallRef): Promise<void>;
  /**
   * Stops serving a website whose hold has not ended; its data stays. Rejects with a {@link PermanentHostError} if the hold has ended, because the
   * website may have changed since. Succeeds if it was handed over already.
   */
  handOver(install: InstallRef): Promise<void>;
  /**
   * As `snapshot`, and notes the state of each file before, so that {@link snapshotChanges} knows later which ones changed.
   */
  snapshotBase(
    install: InstallRef,
    backupId: string,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<Snapshot>;
  /**
   * As `snapshot`, with the whole database, and only those files that changed since {@link snapshotBase} made `baseId`. It is no backup:
   * only {@link restoreChanges} understands it. Rejects if the host was started since.
   */
  snapshotChanges(
    install: InstallRef,
    backupId: string,
    baseId: string,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<Snapshot>;
  /** Puts the files of a snapshot beside the website, which stays as it is, for {@link restoreChanges}. Other work on the website removes them. */
  stageSnapshot(
    install: InstallRef,
    backupId: string,
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<void>;
  /**
   * As `restore`, from the staged files of `baseId` and the changes since. Verifies that the staged files are still those of the source, and all of the
   * changes. It does not look at the restored website, see {@link compareWebsite}.
   */
  restoreChanges(
    install: InstallRef,
    backupId: string,
    options: { baseId: string; wordpressVersion?: string | undefined },
    signal?: AbortSignal,
    report?: ReportProgress,
  ): Promise<Snapshot>;
  /** Names of the files of an install's backup repository after `after`, in order, at most {@link REPOSITORY_PAGE}. */
  listRepository(install: InstallRef, after: string | null): Promise<string[]>;
  /** Reads a part of a file of the repository; fewer than {@link REPOSITORY_PART} bytes at its end. */
  readRepository(install: InstallRef, name: string, offset: number): Promise<Buffer>;
  /**
   * Writes a part of a file, in order from offset 0. `content`: in base64. The file gets its name with its last part, after its content was compared with
   * its name.
   */
  writeRepository(
    install: InstallRef,
    name: string,
    part: { offset: number; isLast: boolean; content: string },
  ): Promise<void>;
  /** Deletes files of the repository. A missing one is success. */
  trimRepository(install: InstallRef, names: readonly string[]): Promise<void>;
  /** How the website looks to its visitors and to an administrator. It runs no scheduled task. */
  observeWebsite(install: InstallRef, signal?: AbortSignal): Promise<SeenWebsite>;
  /** What is worse than in an observation of the other machine, one sentence without a full stop; null for nothing. */
  compareWebsite(install: InstallRef, before: SeenWebsite, signal?: AbortSignal): Promise<string | null>;
}

/** An observation of a website, as JSON that only hosts read. */
export type SeenWebsite = string;

/** Most names in one answer. */
export const REPOSITORY_PAGE = 5_000;
/** Most bytes of one part. */
export const REPOSITORY_PART = 1024 * 1024;

/** Most bytes of a file; restic's largest packs have half of it. Either host may be compromised, and the other has to end. */
export const REPOSITORY_FILE_BYTES = 256 * 1024 * 1024;
/** Most files of a repository. */
export const REPOSITORY_FILES = 2_000_000;

/** A file that tells whether two machines see the same repository. Its content is that of the last writer. */
export const REPOSITORY_MARK = 'homeport-move';

/** Files of a restic repository, except locks. All but `config` are named by the SHA-256 of their content. */
export const REPOSITORY_FILE = `^(?:config|${REPOSITORY_MARK}|(?:keys|index|snapshots)/[0-9a-f]{64}|data/[0-9a-f]{2}/[0-9a-f]{64})$`;

export const repositoryFile = Type.String({ pattern: REPOSITORY_FILE });
export const seenWebsite = Type.String({ maxLength: 2 * 1024 * 1024 });
