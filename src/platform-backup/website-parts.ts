import type { InstallRef } from '../hosting/contract/install-ref.ts';
import type { Snapshot } from '../hosting/contract/snapshots.ts';
import type { PackFacts } from './manifest.ts';

/** A file, and its name in the host's folder (relative, with `/`). */
export interface HostFile {
  name: string;
  file: string;
}

/** The files of a website, in a folder of packs, and the list of what is in them. */
export interface WebsiteStore {
  manifest: string;
  packs: string;
}

/** A pack that a website needs. */
export interface StoredPack extends PackFacts {
  /** Of its file. */
  name: string;
}

/** An archive of a website's files by an earlier version, and the list of what is in it. */
export interface WebsiteArchive {
  archive: string;
  manifest: string;
}

/** Reads and restores the parts of the host that keeps its websites in the data folder. */
export interface WebsiteParts {
  /** Names of the files of the host itself that a backup can hold: id, choice of PHP, SSH host key, certificate. */
  hostFileNames: readonly string[];
  /** Those that are there. */
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
  /**
   * Stores the files of a website in packs, and a manifest, which is a new file. Contents in packs that the folder has already, or has the
   * list of (`listFileOf`), are not stored again. Throws PermanentHostError if the website has no files.
   *
   * @returns all packs that the website needs
   */
  store(install: InstallRef, backupId: string, to: WebsiteStore, signal?: AbortSignal): Promise<StoredPack[]>;
  /** Puts the files of that backup back, below the host's folder `to`. */
  extract(
    installId: string,
    backupId: string,
    from: WebsiteStore | WebsiteArchive,
    to: string,
    signal?: AbortSignal,
  ): Promise<void>;
  /**
   * Makes a backup of an install from the copy of a website in a backup of the platform. Nothing else changes. Only the process that serves
   * the websites may call it, in the lane of the install. Throws PermanentHostError if the copy is of another kind of website.
   */
  adopt(install: InstallRef, backupId: string, copy: AdoptedCopy, signal: AbortSignal): Promise<Snapshot>;
  /** Removes a backup that {@link adopt} has made, because its job ends without it. The next pruning deletes its contents. */
  disown(installId: string, backupId: string): Promise<void>;
  /** Puts backups of an install back that the host does not hold any more. As {@link adopt}, in the lane of the install. Returns their ids. */
  returnBackups(installId: string, backupIds: readonly string[], offered: OfferedBackups): Promise<string[]>;
}

/** The files of an install's backups in a backup of the platform, by their paths below the folder of the install's backups. */
export interface OfferedBackups {
  paths: ReadonlySet<string>;
  /** Fetches a file into a new one, and verifies it. */
  fetch(path: string, to: string): Promise<void>;
}

export interface AdoptedCopy {
  /** The install and the platform backup that the copy was made for. */
  websiteId: string;
  platformBackupId: string;
  isWordPress: boolean;
  /** Fetches the files of the copy into a new folder. */
  fetch(to: string): Promise<WebsiteStore | WebsiteArchive>;
}
