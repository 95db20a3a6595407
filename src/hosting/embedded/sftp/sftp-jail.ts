import { constants } from 'node:fs';
import { type FileHandle, realpath } from 'node:fs/promises';
import { basename, dirname, join, posix, sep } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { openContained } from '../host-folder/contained-file.ts';
import { refusal } from './sftp-status.ts';

/**
 * Shows a customer one folder as `/`, and nothing else. Links inside the folder are followed; links that lead out are refused. A link
 * swapped in between check and use is refused too: a folder is opened and verified first, and its entries are then reached through the
 * open folder.
 */
export interface Jail {
  /** Resolves a client's path inside the jail; `..` stays inside. Rejects invalid paths. */
  normalize(path: string): string;
  /** Resolves all links of the path. For a missing path, only its folder is resolved. */
  follow(path: string): Promise<string>;
  /**
   * Calls `work` with a path for system calls that refers to `path` without following a link in its last segment. The path is valid only
   * during the call. `/` itself is refused unless `top` is allowed.
   */
  at<T>(path: string, work: (place: string) => Promise<T>, top?: 'top'): Promise<T>;
  /** Opens a folder, to list it; see {@link placeIn}. */
  openFolder(path: string): Promise<OpenFolder>;
  /** The path of a link's absolute target inside the jail, or null if it is outside. */
  inside(target: string): Promise<string | null>;
}

export interface OpenFolder {
  handle: FileHandle;
  /** Its real path on this machine. */
  real: string;
}

const MAX_PATH_BYTES = 4096;

/** The path of an open folder's entry for system calls. */
export function placeIn({ handle, real }: OpenFolder, name: string): string {
  return process.platform === 'linux' ? `/proc/self/fd/${handle.fd}/${name}` : join(real, name);
}

export function createJail(folder: string): Jail {
  function normalize(path: string): string {
    if (path.includes('\0')) throw refusal.malformed('The path holds a NUL character');
    if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw refusal.failed('The path is too long');
    return posix.resolve('/', path);
  }

  /** The real path on this machine; rejects if it is not below the folder. */
  async function realOf(path: string): Promise<{ root: string; real: string }> {
    const root = await realpath(folder);
    const real = await realpath(join(root, path));
    if (real !== root && !real.startsWith(root + sep))
      throw refusal.denied('The link leads out of the website');
    return { root, real };
  }

  async function follow(path: string): Promise<string> {
    if (path === '/') return path;
    try {
      const { root, real } = await realOf(path);
      return real.slice(root.length) || '/';
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error;
      const { root, real } = await realOf(dirname(path));
      return posix.join('/', real.slice(root.length), basename(path));
    }
  }

  async function openFolder(path: string): Promise<OpenFolder> {
    const { real } = await realOf(path);
    const handle = await openContained(real, constants.O_RDONLY | constants.O_DIRECTORY);
    return { handle, real };
  }

  return {
    normalize,
    follow,
    openFolder,

    async at(path, work, top) {
      const isTop = path === '/';
      if (isTop && top === undefined) throw refusal.denied('The top folder stays as it is');
      const opened = await openFolder(isTop ? '/' : dirname(path));
      try {
        return await work(placeIn(opened, isTop ? '.' : basename(path)));
      } finally {
        await opened.handle.close();
      }
    },

    async inside(target) {
      const root = await realpath(folder);
      if (target === root) return '/';
      return target.startsWith(root + sep) ? posix.normalize(target.slice(root.length)) : null;
    },
  };
}
