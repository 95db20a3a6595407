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
import { ifThere } from '../../../lib/if-there.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { makeFolder } from '../../linux/isolation/owned-folder.ts';

export interface Owner {
  uid: number;
  gid: number;
}

/** The type of an entry; for a link, also its target and owner. */
export type Found =
  | { type: 'none' | 'folder' | 'file' | 'other' }
  | { type: 'link'; target: string; uid: number };

/**
 * A folder held open, for root's work in a folder that a customer can change at the same time. Names are looked up in the open
 * folder, so replacing a parent folder by a link has no effect. A link as the last component is never followed.
 */
export interface PinnedFolder {
  /** Its path when it was opened, for messages. */
  path: string;
  stat(name: string): Promise<Found>;
  /** Names of its entries. */
  names(): Promise<string[]>;
  /**
   * Opens a subfolder, and creates it for `owner` if nothing is there. Null if something else, such as a link, is in its place.
   * The caller closes it.
   */
  enter(name: string, owner: Owner): Promise<PinnedFolder | null>;
  /** Opens a subfolder; null if something else or nothing is there. The caller closes it. */
  look(name: string): Promise<PinnedFolder | null>;
  /** When an entry itself last changed its content, in nanoseconds since the epoch; null if it is missing. */
  changedAt(name: string): Promise<bigint | null>;
  /** Writes a file in place of any file or link. Readers see the old or the new file, whole. */
  write(name: string, content: string, options: Owner & { mode: number }): Promise<void>;
  /** Creates a link, owned by root, in place of any file or link. */
  link(name: string, target: string): Promise<void>;
  /** Moves a file of root here, from the same file system. */
  take(file: string, name: string, options: Owner & { mode: number }): Promise<void>;
  /** The size of a file; null if there is none. */
  size(name: string): Promise<number | null>;
  /** The last bytes of a file as text; null if there is none. */
  end(name: string, bytes: number): Promise<string | null>;
  /** Renames an entry, in place of any file or link. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file or a link. Succeeds if it is missing. */
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}

const FOLDER = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** All parents of `path` must belong to root. Rejects with a {@link PermanentHostError} if it is a link or not a folder. */
export async function pinFolder(path: string): Promise<PinnedFolder> {
  try {
    return pinned(path, await open(path, FOLDER));
  } catch (error) {
    if (!hasCode(error, 'ELOOP', 'ENOTDIR')) throw error;
    throw new PermanentHostError(`${path} is not a folder: move it away`);
  }
}

function pinned(path: string, folder: FileHandle): PinnedFolder {
  /** The kernel looks up the name in the open folder, wherever that has moved. */
  const at = (name: string) => {
    if (name === '' || name === '.' || name === '..' || name.includes('/')) {
      throw new Error(`"${name}" is not a name in a folder`);
    }
    return `/proc/self/fd/${folder.fd}/${name}`;
  };

  async function statEntry(name: string): Promise<Found> {
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

  async function look(name: string): Promise<PinnedFolder | null> {
    try {
      return pinned(`${path}/${name}`, await open(at(name), FOLDER));
    } catch (error) {
      if (hasCode(error, 'ELOOP', 'ENOTDIR', 'ENOENT')) return null;
      throw error;
    }
  }

  /** Creates the entry under a temporary name and renames it: rename(2) follows no link. */
  async function replace(name: string, make: (temporary: string) => Promise<void>): Promise<void> {
    const temporary = at(`.homeport-${randomUUID()}`);
    try {
      await make(temporary);
      await rename(temporary, at(name));
    } catch (error) {
      await rm(temporary, { force: true });
      if (!hasCode(error, 'EISDIR', 'ENOTEMPTY', 'EEXIST')) throw error;
      throw new PermanentHostError(`${path}/${name} is a folder, but WordPress needs a file there`);
    }
  }

  return {
    path,
    stat: statEntry,
    names: () => readdir(`/proc/self/fd/${folder.fd}`),
    enter,
    look,
    async changedAt(name) {
      const found = await ifThere(lstat(at(name), { bigint: true }));
      return found === null ? null : found.mtimeNs;
    },
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
    async size(name) {
      const found = await ifThere(lstat(at(name)));
      return found?.isFile() ? found.size : null;
    },
    async end(name, bytes) {
      const found = await ifThere(lstat(at(name)));
      if (!found?.isFile()) return null;
      // Neither a link nor a pipe in its place by now blocks root.
      const file = await open(at(name), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        const length = Math.min(bytes, found.size);
        const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, found.size - length);
        return buffer.subarray(0, bytesRead).toString('utf8');
      } finally {
        await file.close();
      }
    },
    rename: (from, to) => replace(to, (temporary) => rename(at(from), temporary)),
    remove: (name) => rm(at(name), { force: true }),
    close: () => folder.close(),
  };
}
