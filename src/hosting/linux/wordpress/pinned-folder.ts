import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  chmod,
  type FileHandle,
  lchown,
  lstat,
  open,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { hasCode } from '../../../lib/error-code.ts';
import { PermanentHostError } from '../../contract/host.ts';
import { makeFolder } from '../isolation/owned-folder.ts';

export interface Owner {
  uid: number;
  gid: number;
}

/** What is at a name: `link` with its target, or what else. */
export type Found =
  | { type: 'none' | 'folder' | 'file' | 'other' }
  | { type: 'link'; target: string; uid: number };

/**
 * A folder that is held open, in which root works for somebody who can change it meanwhile. Names are looked up in the open folder
 * itself, so exchanging a folder above for a link leads nowhere; a link in the last place is never followed.
 */
export interface PinnedFolder {
  /** Its path as it was opened, for messages. */
  path: string;
  look(name: string): Promise<Found>;
  /** What is in it. */
  names(): Promise<string[]>;
  /**
   * A folder in this one, made for `owner` where there is nothing; null if something else, a link for one, is in its place. To
   * be closed by the caller.
   */
  enter(name: string, owner: Owner): Promise<PinnedFolder | null>;
  /** Puts a file in the place of whatever file or link is there; whoever reads it finds the old or the new, whole. */
  write(name: string, content: string, options: Owner & { mode: number }): Promise<void>;
  /** Puts a link, root's own, in the place of whatever file or link is there. */
  link(name: string, target: string): Promise<void>;
  /** Moves a file of root's, on the same file system, to here. */
  take(file: string, name: string, options: Owner & { mode: number }): Promise<void>;
  /** Removes a file or a link. Removing what is not there is success. */
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** `path`: all folders above it are root's. Rejects with a {@link PermanentHostError} if it is a link or no folder. */
export async function pinFolder(path: string): Promise<PinnedFolder> {
  try {
    return pinned(path, await open(path, FOLDER));
  } catch (error) {
    if (!hasCode(error, 'ELOOP', 'ENOTDIR')) throw error;
    throw new PermanentHostError(`${path} is no folder: move away what is there`);
  }
}

function pinned(path: string, folder: FileHandle): PinnedFolder {
  /** The kernel takes what comes after the descriptor from the open folder, wherever that lies now. */
  const at = (name: string) => {
    if (name === '' || name === '.' || name === '..' || name.includes('/')) {
      throw new Error(`"${name}" is no name in a folder`);
    }
    return `/proc/self/fd/${folder.fd}/${name}`;
  };

  async function look(name: string): Promise<Found> {
    try {
      const found = await lstat(at(name));
      if (found.isSymbolicLink()) return { type: 'link', target: await readlink(at(name)), uid: found.uid };
      if (found.isDirectory()) return { type: 'folder' };
      return { type: found.isFile() ? 'file' : 'other' };
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return { type: 'none' };
      throw error;
    }
  }

  async function enter(name: string, { uid, gid }: Owner): Promise<PinnedFolder | null> {
    const isNew = await makeFolder(at(name));
    try {
      const inner = await open(at(name), FOLDER);
      try {
        if (isNew) {
          await inner.chown(uid, gid);
          await inner.chmod(0o755);
        }
      } catch (error) {
        await inner.close();
        throw error;
      }
      return pinned(`${path}/${name}`, inner);
    } catch (error) {
      if (hasCode(error, 'ELOOP', 'ENOTDIR', 'ENOENT')) return null;
      throw error;
    }
  }

  /** What is made beside and moved over it: rename(2) follows no link. */
  async function replace(name: string, make: (temporary: string) => Promise<void>): Promise<void> {
    const temporary = at(`.homeport-${randomUUID()}`);
    try {
      await make(temporary);
      await rename(temporary, at(name));
    } catch (error) {
      await rm(temporary, { force: true });
      if (!hasCode(error, 'EISDIR', 'ENOTEMPTY', 'EEXIST')) throw error;
      throw new PermanentHostError(`${path}/${name} is a folder, where a file of WordPress belongs`);
    }
  }

  return {
    path,
    look,
    names: () => readdir(`/proc/self/fd/${folder.fd}`),
    enter,
    write: (name, content, { uid, gid, mode }) =>
      replace(name, async (temporary) => {
        const file = await open(temporary, 'wx', 0o600);
        try {
          await file.writeFile(content);
          await file.chown(uid, gid);
          await file.chmod(mode);
          await file.sync();
        } finally {
          await file.close();
        }
      }),
    async link(name, target) {
      try {
        await symlink(target, at(name));
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error;
        await replace(name, (temporary) => symlink(target, temporary));
      }
    },
    async take(file, name, { uid, gid, mode }) {
      await chmod(file, mode);
      await lchown(file, uid, gid);
      await rename(file, at(name));
    },
    remove: (name) => rm(at(name), { force: true }),
    close: () => folder.close(),
  };
}
