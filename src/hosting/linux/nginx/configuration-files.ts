import { chmod, mkdir, readdir, readFile, readlink, rename, rm, symlink } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { syncFolder, writeDurably } from '../../../lib/durable-file.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { noticeFiles } from './notices.ts';

/** Paths of nginx's configuration. Only root can read it, except notices and temporary files. */
export interface ConfigurationPaths {
  folder: string;
  /** A link to the folder of the active generation. nginx reads its configuration there. */
  current: string;
  currentFile: string;
  ownCertificate: string;
  notices: string;
  temporary: string;
}

function configurationPaths(folder: string): ConfigurationPaths {
  const below = (...names: string[]) => join(folder, ...names);
  return {
    folder,
    current: below('current'),
    currentFile: below('current', 'nginx.conf'),
    ownCertificate: below('own.pem'),
    notices: below('notices'),
    temporary: below('temporary'),
  };
}

/**
 * nginx's configuration on disk, a folder per generation. It names no website.
 */
export interface ConfigurationFiles {
  paths: ConfigurationPaths;
  /** Creates the folders and writes the notices. */
  prepare(): Promise<void>;
  /** Writes the main file of an inactive generation. Returns its path. */
  writeGeneration(text: string): Promise<string>;
  /** Activates a generation written by {@link writeGeneration}. */
  switchTo(file: string): Promise<void>;
  discard(file: string): Promise<void>;
  /** The active main file; null if there is none. */
  currentText(): Promise<string | null>;
  /** Deletes all generations but the active one. */
  prune(): Promise<void>;
}

export function createConfigurationFiles(folder: string): ConfigurationFiles {
  const paths = configurationPaths(folder);
  const generations = join(folder, 'generations');
  async function currentText(): Promise<string | null> {
    return ifThere(readFile(paths.currentFile, 'utf8'));
  }

  async function lastNumber(): Promise<number> {
    const numbers = (await readdir(generations)).map(Number).filter(Number.isInteger);
    return Math.max(0, ...numbers);
  }

  return {
    paths,
    currentText,

    async prepare() {
      await makeFolder(generations, 0o700);
      await makeFolder(paths.temporary, 0o711);
      await makeFolder(paths.notices, 0o755);
      await chmod(folder, 0o711);
      for (const [name, content] of noticeFiles()) {
        const file = join(paths.notices, name);
        await writeUnlessSame(file, content);
        await chmod(file, 0o644);
      }
    },

    async writeGeneration(text) {
      const path = join(generations, String((await lastNumber()) + 1));
      await makeFolder(path, 0o700);
      const file = join(path, 'nginx.conf');
      await writeDurably(file, text);
      return file;
    },

    async switchTo(file) {
      const link = `${paths.current}.new`;
      await rm(link, { force: true });
      await symlink(join('generations', basename(join(file, '..'))), link);
      await rename(link, paths.current);
      await syncFolder(folder);
    },

    async discard(file) {
      await rm(join(file, '..'), { recursive: true, force: true });
    },

    async prune() {
      const active = basename(await readlink(paths.current));
      for (const name of await readdir(generations)) {
        if (name !== active) await rm(join(generations, name), { recursive: true, force: true });
      }
    },
  };
}

async function makeFolder(path: string, mode: number): Promise<void> {
  await mkdir(path, { recursive: true });
  await chmod(path, mode);
}

async function writeUnlessSame(file: string, content: string): Promise<void> {
  if ((await ifThere(readFile(file, 'utf8'))) !== content) await writeDurably(file, content);
}
