import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { Logger } from 'pino';
import { serializeByKey } from '../../../lib/concurrency.ts';
import { syncFolder } from '../../../lib/durable-file.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { PermanentHostError } from '../../contract/host.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { runCommand } from '../machine/run-command.ts';
import { isArchiveName, unpackArchive } from './archive.ts';
import { checkCore, copyPlain, newestFirst } from './core-tree.ts';
import { fetchDebianWordPress } from './debian-package.ts';
import { downloadOfficial } from './official-download.ts';
import { writePhpFiles } from './php-files.ts';

/**
 * The versions of WordPress on this host, side by side and for all websites together: root's, read-only, without links, each
 * with the host's own PHP in it.
 */
export interface WordPressCores {
  /** Newest first. */
  list(): Promise<string[]>;
  /**
   * Fetches a WordPress and gives its version; one that is there already stays as it is. `source`: a folder, an archive (`.zip`,
   * `.tar.gz`), `official`, `debian`; null or left out for the configured one. Rejects with a {@link PermanentHostError} for what
   * is no WordPress or not what was published.
   */
  add(source?: string | null): Promise<string>;
  /** Takes a version away that no website uses. One that is not there is success. */
  remove(version: string): Promise<void>;
  /** At the start of the host: brings our PHP in every version up to date, and fetches one where there is none. */
  ensureAny(): Promise<void>;
}

export interface WordPressCoresOptions {
  layout: LinuxLayout;
  /** Where WordPress comes from; null: the official download, else Debian's package. */
  source: string | null;
  /** Where the official download is. */
  url: string;
  log: Logger;
  fetch?: typeof fetch;
}

const VERSION = /^\d+(\.\d+){1,2}$/;

export function createWordPressCores(options: WordPressCoresOptions): WordPressCores {
  const { layout, source: configured, url, log } = options;
  const serial = serializeByKey();

  async function list(): Promise<string[]> {
    try {
      return newestFirst((await readdir(layout.cores)).filter((name) => VERSION.test(name)));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return [];
      throw error;
    }
  }

  async function add(source: string | null = configured): Promise<string> {
    await mkdir(layout.cores, { recursive: true });
    // Whatever the umask of this process is: sandboxes go through it.
    await chmod(layout.cores, 0o711);
    await mkdir(layout.scratch, { recursive: true, mode: 0o700 });
    const scratch = join(layout.scratch, `core-${randomUUID()}`);
    await mkdir(scratch, { mode: 0o700 });
    try {
      const tree = join(scratch, 'wordpress');
      await fetchInto(source, scratch, tree);
      return await place(tree);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  }

  async function fetchInto(source: string | null, scratch: string, tree: string): Promise<void> {
    if (source === null) return fetchOfficialOrDebian(scratch, tree);
    if (source === 'official') return fetchOfficial(scratch, tree);
    if (source === 'debian') return fetchDebianWordPress(scratch, tree);
    if (!isAbsolute(source)) {
      throw new PermanentHostError(
        `"${source}" is no source of WordPress: name a folder or an archive by its whole path, or say official or debian`,
      );
    }
    const kind = await kindOf(source);
    if (kind === null)
      throw new PermanentHostError(`${source} is not there, so no WordPress can come from it`);
    if (kind === 'folder') return copyWordPress(source, tree);
    if (isArchiveName(source)) {
      return copyWordPress(await unpackArchive(source, join(scratch, 'archive')), tree, source);
    }
    throw new PermanentHostError(`${source} is neither a folder nor a .zip or .tar.gz`);
  }

  async function fetchOfficial(scratch: string, tree: string): Promise<void> {
    const archive = await downloadOfficial(url, scratch, options.fetch);
    await copyWordPress(await unpackArchive(archive, join(scratch, 'archive')), tree, archive);
  }

  async function fetchOfficialOrDebian(scratch: string, tree: string): Promise<void> {
    try {
      await fetchOfficial(scratch, tree);
    } catch (error) {
      // What was published and what came differ: that is no reason to take something else without a word.
      if (error instanceof PermanentHostError) throw error;
      log.warn(
        { err: error },
        `WordPress cannot be fetched from ${url} now; taking Debian's package instead`,
      );
      await fetchDebianWordPress(scratch, tree);
    }
  }

  /** By one rename, when everything is on the disk. */
  async function place(tree: string): Promise<string> {
    const version = await checkCore(tree);
    await writePhpFiles(tree);
    await openToAll(tree);
    const target = layout.coreOf(version);
    if ((await kindOf(target)) !== null) {
      log.info({ version }, `WordPress ${version} is there already`);
      return version;
    }
    await runCommand('sync', ['--file-system', tree]);
    await rename(tree, target);
    await syncFolder(layout.cores);
    log.info({ version }, `WordPress ${version} added`);
    return version;
  }

  /** By one rename too: half a core must not be taken for one. */
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
    log.info({ version }, `WordPress ${version} taken away`);
  }

  return {
    list,
    add: (source) => serial('add', () => add(source ?? configured)),
    remove: (version) => serial('add', () => remove(version)),
    async ensureAny() {
      const versions = await list();
      for (const version of versions) await writePhpFiles(layout.coreOf(version));
      if (versions.length === 0) await serial('add', () => add());
    },
  };
}

/** A copy takes the modes of what it was made of, and those of an archive may be any. */
async function openToAll(folder: string): Promise<void> {
  await runCommand('chown', ['--recursive', '--no-dereference', 'root:root', folder]);
  await runCommand('chmod', ['--recursive', 'u=rwX,go=rX', folder]);
}

/** Looked at before: a folder of something else may be of any size. */
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
