import type { InstallRef } from '../hosting/contract/install-ref.ts';

/** A file, and its name in the host's folder (relative, with `/`). */
export interface HostFile {
  name: string;
  file: string;
}

/** An archive of a website's files and the list of what is in it. */
export interface WebsiteArchive {
  archive: string;
  manifest: string;
}

/** Reads and restores the parts of the host that keeps its websites in the data folder. */
export interface WebsiteParts {
  /** Files of the host itself that are there: id, SSH host key, certificate. */
  hostFiles(): Promise<HostFile[]>;
  /**
   * Passes on what the host keeps of an install beside its website's files: vhost, backups. The backups do not change until `work` ends.
   * Damaged ones are among them, because parts of them may be of use.
   */
  withFilesOf(
    installId: string,
    work: (files: HostFile[], damagedBackups: number) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<void>;
  /** Archives the files of a website into two new files. Throws PermanentHostError if it has none. */
  archive(install: InstallRef, backupId: string, to: WebsiteArchive, signal?: AbortSignal): Promise<void>;
  /** Puts files back that an archive of that backup holds, below the host's folder `to`. */
  extract(
    installId: string,
    backupId: string,
    from: WebsiteArchive,
    to: string,
    signal?: AbortSignal,
  ): Promise<void>;
}
