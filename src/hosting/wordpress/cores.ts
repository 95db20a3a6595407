import { randomUUID } from 'node:crypto';
import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { Logger } from 'pino';
import { serializeByKey } from '../../lib/concurrency.ts';
import { syncFolder } from '../../lib/durable-file.ts';
import { hasCode } from '../../lib/error-code.ts';
import { runCommand } from '../../lib/run-command.ts';
import { syncFileSystem } from '../../lib/sync-file-system.ts';
import { PermanentHostError } from '../contract/errors.ts';
import { compareVersions } from '../policy/wordpress-version.ts';
import { isArchiveName, unpackArchive } from './archive.ts';
import { checkCore, copyPlain, heldVersions } from './core-tree.ts';
import { fetchDebianWordPress } from './debian-package.ts';
import { downloadOfficial } from './official-download.ts';
import { packagedFiles, requirePackagedFiles } from './packaged-files.ts';
import { takeDocumentRoot, writePhpFiles } from './php-files.ts';

/**
 * The WordPress versions of this host, shared by all websites. They belong to this process's user, are read-only for all others and
 * without links, and contain the host's own PHP files.
 */
export interface WordPressCores {
  /** Newest first. */
  list(): Promise<string[]>;
  /**
   * Adds a WordPress and returns its version; an existing version stays as it is. `source`: a folder, an archive (`.zip`,
   * `.tar.gz`), `official`, `packaged` or `debian`; null or left out for the configured one. Rejects with a {@link PermanentHostError} if it
   * is not WordPress or does not match its published checksum.
   */
  add(source?: string | null): Promise<string>;
  /** Adds a release: the packaged one, or one from the official download. Rejects as {@link add} does; an existing version stays as it is. */
  addRelease(version: string): Promise<void>;
  /** Whether new versions come from the official download. */
  isOfficial: boolean;
  /** Removes a version that no website uses. Succeeds if it is missing. */
  remove(version: string): Promise<void>;
  /**
   * Updates our PHP files in every version, and adds a version if there are none: the packaged one, unless a source is configured.
   * `report`: called while it downloads, also if an earlier call does that.
   */
  ensureAny(report?: DownloadReport): Promise<void>;
}

/** The bytes so far, and all of them unless the server does not tell. */
export type DownloadReport = (done: number, total: number | null) => void;

/** The places of WordPress versions on a host. */
export interface CoreFolders {
  cores: string;
  /** For unfinished work, on the file system of `cores`. */
  scratch: string;
  coreOf(version: string): string;
}

export interface WordPressCoresOptions {
  layout: CoreFolders;
  /** Source of WordPress; null: the official download, or if that fails the packaged release, or else Debian's package. */
  source: string | null;
  /** Base URL of the official download. */
  url: string;
  /** Whether document roots link to the cores, so that PHP finds a core and not the website by the path of its files. */
  isLinked?: boolean;
  /** Kind of the archive that is downloaded. Default: `zip`, which needs the program `unzip`. */
  archive?: 'zip' | 'tar.gz';
  /** Older versions are refused. */
  oldest?: string;
  log: Logger;
  fetch?: typeof fetch;
  /** Ends downloads, and begins no more. */
  signal?: AbortSignal;
  /** The folder of the packaged release; null without one. Default: that of the optional npm package. */
  packaged?: string | null;
}

export function createWordPressCores(options: WordPressCoresOptions): WordPressCores {
  const { layout, source: configured, url, log, signal } = options;
  const { packaged = packagedFiles()?.wordpress ?? null } = options;
  const serial = serializeByKey();
  const reports = new Set<DownloadReport>();

  const list = () => heldVersions(layout.cores);

  const add = (source: string | null = configured) =>
    addFrom((scratch, tree) => fetchInto(source, scratch, tree));

  const addPackaged = (from: string) => addFrom((_scratch, tree) => copyWordPress(from, tree));

  async function addRelease(version: string): Promise<void> {
    if ((await list()).includes(version)) return;
    await addFrom(async (scratch, tree) => {
      if (packaged !== null && (await checkCore(packaged)) === version) await copyPlain(packaged, tree);
      else await fetchOfficial(scratch, tree, version);
      const found = await checkCore(tree);
      if (found !== version) {
        throw new PermanentHostError(`The download of WordPress ${version} contains WordPress ${found}`);
      }
    });
  }

  async function addFrom(fetchTree: (scratch: string, tree: string) => Promise<void>): Promise<string> {
    signal?.throwIfAborted();
    await mkdir(layout.cores, { recursive: true });
    // Sandboxes pass through it, whatever this process's umask is.
    await chmod(layout.cores, 0o711);
    await mkdir(layout.scratch, { recursive: true, mode: 0o700 });
    const scratch = join(layout.scratch, `core-${randomUUID()}`);
    await mkdir(scratch, { mode: 0o700 });
    try {
      const tree = join(scratch, 'wordpress');
      await fetchTree(scratch, tree);
      return await place(tree);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  async function fetchInto(source: string | null, scratch: string, tree: string): Promise<void> {
    if (source === null) return fetchNewest(scratch, tree);
    if (source === 'official') return fetchOfficial(scratch, tree);
    if (source === 'packaged') return copyWordPress(packaged ?? requirePackagedFiles().wordpress, tree);
    if (source === 'debian') return fetchDebianWordPress(scratch, tree);
    if (!isAbsolute(source)) {
      throw new PermanentHostError(
        `"${source}" is not a source of WordPress: give the absolute path of a folder or an archive, or "official", "packaged" or "debian"`,
      );
    }
    const kind = await kindOf(source);
    if (kind === null) throw new PermanentHostError(`${source} does not exist`);
    if (kind === 'folder') return copyWordPress(source, tree);
    if (isArchiveName(source)) {
      return copyWordPress(await unpackArchive(source, join(scratch, 'archive')), tree, source);
    }
    throw new PermanentHostError(`${source} is neither a folder nor a .zip or .tar.gz`);
  }

  async function fetchOfficial(scratch: string, tree: string, version: string | null = null): Promise<void> {
    const report: DownloadReport = (...bytes) => {
      for (const one of reports) one(...bytes);
    };
    const archive = await downloadOfficial(
      url,
      scratch,
      { version, kind: options.archive, report, signal },
      options.fetch,
    );
    signal?.throwIfAborted();
    await copyWordPress(await unpackArchive(archive, join(scratch, 'archive')), tree, archive);
  }

  async function fetchNewest(scratch: string, tree: string): Promise<void> {
    try {
      await fetchOfficial(scratch, tree);
    } catch (error) {
      // A checksum mismatch must not silently lead to another source.
      if (error instanceof PermanentHostError || signal?.aborted) throw error;
      const instead = packaged === null ? "Debian's package" : 'the packaged release';
      log.warn({ err: error }, `cannot download WordPress from ${url}; using ${instead} instead`);
      await (packaged === null ? fetchDebianWordPress(scratch, tree) : copyWordPress(packaged, tree));
    }
  }

  /** Moves it into place in one rename, after everything is on the disk. */
  async function place(tree: string): Promise<string> {
    const version = await checkCore(tree);
    if (options.oldest !== undefined && compareVersions(version, options.oldest) < 0) {
      throw new PermanentHostError(
        `WordPress ${version} is too old for this host, which runs ${options.oldest} and newer. Set HOMEPORT_WORDPRESS_SOURCE to a folder or an archive with a newer one`,
      );
    }
    await writeOwnFiles(tree);
    await openToAll(tree);
    const target = layout.coreOf(version);
    if ((await kindOf(target)) !== null) {
      log.info({ version }, `WordPress ${version} already exists`);
      return version;
    }
    await syncFileSystem(tree);
    await rename(tree, target);
    await syncFolder(layout.cores);
    log.info({ version }, `WordPress ${version} added`);
    return version;
  }

  async function writeOwnFiles(core: string): Promise<void> {
    // First, because wp-load.php needs them.
    await writePhpFiles(core);
    if (options.isLinked) await takeDocumentRoot(core);
  }

  /** A version that lacks files must not keep the others from being served. */
  async function renewOwnFiles(version: string): Promise<void> {
    try {
      await writeOwnFiles(layout.coreOf(version));
    } catch (err) {
      if (!hasCode(err, 'ENOENT') && !(err instanceof PermanentHostError)) throw err;
      log.error(
        { err, version },
        `WordPress ${version} of this host is damaged, so its websites may not start`,
      );
    }
  }

  /** Also by one rename, so that half a core is never used. */
  async function remove(version: string): Promise<void> {
    await mkdir(layout.scratch, { recursive: true, mode: 0o700 });
    const scratch = join(layout.scratch, `core-${randomUUID()}`);
    try {
      await rename(layout.coreOf(version), scratch);
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return;
      throw error;
    }
    await syncFolder(layout.cores);
    await rm(scratch, { recursive: true, force: true });
    log.info({ version }, `WordPress ${version} removed`);
  }

  return {
    list,
    add: (source) => serial('add', () => add(source ?? configured)),
    addRelease: (version) => serial('add', () => addRelease(version)),
    isOfficial: configured === null || configured === 'official',
    remove: (version) => serial('add', () => remove(version)),
    async ensureAny(report) {
      const versions = await list();
      for (const version of versions) await renewOwnFiles(version);
      if (versions.length > 0) return;
      if (report) reports.add(report);
      try {
        await serial('add', async () => {
          // An earlier call may have added one meanwhile.
          if ((await list()).length > 0) return;
          // A newer release can follow; visitors of a new website must not wait for a download.
          await (configured === null && packaged !== null ? addPackaged(packaged) : add());
        });
      } finally {
        if (report) reports.delete(report);
      }
    },
  };
}

/** The copy keeps the modes of its source, and those of an archive can be anything. */
async function openToAll(folder: string): Promise<void> {
  if (process.getuid?.() === 0) await runCommand('chown', ['-R', '-h', '0:0', folder]);
  await runCommand('chmod', ['-R', 'u=rwX,go=rX', folder]);
}

/** Checks first, because a folder of something else could have any size. */
async function copyWordPress(from: string, to: string, called = from): Promise<void> {
  await checkCore(from, called);
  await copyPlain(from, to);
}

async function kindOf(path: string): Promise<'folder' | 'file' | null> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}
