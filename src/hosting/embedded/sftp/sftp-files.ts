import { constants, type Dir, type Stats } from 'node:fs';
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  opendir,
  readlink,
  rename,
  rmdir,
  unlink,
} from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import ssh2, { type Attributes, type FileEntry, type InputAttributes } from 'ssh2';
import type { Clock } from '../../../lib/clock.ts';
import { hasCode } from '../../../lib/error-code.ts';
import { ifThere } from '../../../lib/if-there.ts';
import { blockBytes, type InstallUsage } from '../../contract/install-limits.ts';
import { PRIVATE } from '../wordpress/site.ts';
import type { DiskQuota } from './disk-quota.ts';
import {
  attributesOf,
  changeAttributes,
  longName,
  MAX_FILE_BYTES,
  NO_ATTRIBUTES,
  permittedMode,
} from './sftp-attributes.ts';
import { createJail, type OpenFolder, placeIn } from './sftp-jail.ts';
import { refusal } from './sftp-status.ts';

const { OPEN_MODE } = ssh2.utils.sftp;

/** A folder that a client lists. */
export interface Listing {
  folder: OpenFolder;
  entries: Dir;
  isBegun: boolean;
}

/**
 * SFTP operations on one install's files. In paths, `/` is the install's folder. Rejects with an error that sftp-status.ts turns into a
 * response.
 */
export interface SftpFiles {
  open(path: string, flags: number, attributes: Partial<InputAttributes>): Promise<FileHandle>;
  close(file: FileHandle): Promise<void>;
  /** At most `length` bytes (and at most 255 KiB); rejects at the end of the file. */
  read(file: FileHandle, position: number, length: number): Promise<Buffer>;
  write(file: FileHandle, position: number, content: Buffer): Promise<void>;
  statOpen(file: FileHandle): Promise<Attributes>;
  changeOpen(file: FileHandle, attributes: Partial<InputAttributes>): Promise<void>;
  list(path: string): Promise<Listing>;
  /** The next entries; an empty array at the end. */
  nextEntries(listing: Listing): Promise<FileEntry[]>;
  stat(path: string, links: 'follow' | 'show'): Promise<Attributes>;
  change(path: string, attributes: Partial<InputAttributes>): Promise<void>;
  remove(path: string): Promise<void>;
  makeFolder(path: string, attributes: Partial<InputAttributes>): Promise<void>;
  removeFolder(path: string): Promise<void>;
  /** `replace`: atomically replaces an existing file, as in POSIX. */
  rename(from: string, to: string, existing: 'keep' | 'replace'): Promise<void>;
  realPath(path: string): FileEntry;
  readLink(path: string): Promise<FileEntry>;
}

/** OpenSSH's largest packet is 256 KiB, including some overhead. */
const MAX_READ_BYTES = 255 * 1024;
/** This many names of 255 bytes, each written twice, fit into 34,000 bytes, which every client must accept. */
const LISTING_ENTRIES = 48;

/** @param owner the name that listings show */
export function createSftpFiles(root: string, owner: string, clock: Clock, quota: DiskQuota): SftpFiles {
  const jail = createJail(root);
  /** Files opened for appending: writes ignore the client's position. */
  const appending = new WeakSet<FileHandle>();

  async function take(change: InstallUsage): Promise<void> {
    const refused = await quota.take(change);
    if (refused !== null) throw refusal.failed(`${refused}. Delete files first`);
  }

  const takeBytes = (bytes: number) => take({ bytes, files: 0 });

  /** Creates one more entry, if the quota allows it. */
  async function countNew<T>(make: () => Promise<T>): Promise<T> {
    await take({ bytes: 0, files: 1 });
    try {
      return await make();
    } catch (error) {
      await take({ bytes: 0, files: -1 });
      throw error;
    }
  }

  async function giveBack(stats: Stats): Promise<void> {
    // The space of an open file is freed when it is closed.
    const bytes = stats.isFile() && !quota.isOpen(stats) ? blockBytes(stats.size) : 0;
    await take({ bytes: -bytes, files: -1 });
  }

  /** Whether it is the folder that visitors never see, which its name alone hides. Disks that ignore case know it by other names. */
  async function isPrivate(stats: Stats): Promise<boolean> {
    const found = await ifThere(lstat(join(root, PRIVATE)));
    return found !== null && isSameFile(stats, found);
  }

  async function entryOf(listing: Listing, name: string): Promise<FileEntry | null> {
    try {
      const stats = await lstat(placeIn(listing.folder, name));
      return {
        filename: name,
        longname: longName(name, stats, owner, clock.now()),
        attrs: attributesOf(stats),
      };
    } catch (error) {
      // Gone since it was listed, or a name that is not UTF-8 and cannot be requested.
      if (hasCode(error, 'ENOENT')) return null;
      throw error;
    }
  }

  async function nextNames({ entries }: Listing): Promise<string[]> {
    const names: string[] = [];
    while (names.length < LISTING_ENTRIES) {
      const entry = await entries.read();
      if (entry === null) break;
      names.push(entry.name);
    }
    return names;
  }

  return {
    async open(path, flags, { mode }) {
      const wanted = await jail.follow(jail.normalize(path));
      return jail.at(
        wanted,
        async (place) => {
          const system = systemFlags(flags);
          const opening = () =>
            open(place, system & ~constants.O_TRUNC, permittedMode(Number(mode ?? 0o666), 'file'));
          const makes = (system & constants.O_CREAT) !== 0 && (await ifThere(lstat(place))) === null;
          const file = await (makes ? countNew(opening) : opening());
          try {
            const stats = await file.stat();
            if (stats.isDirectory()) throw refusal.failed('It is a folder');
            if (!stats.isFile()) throw refusal.failed('It is not a regular file');
            if ((system & constants.O_TRUNC) !== 0) {
              await file.truncate(0);
              await takeBytes(-blockBytes(stats.size));
            }
            if ((system & constants.O_APPEND) !== 0) appending.add(file);
            quota.opened(file, stats);
            return file;
          } catch (error) {
            await file.close();
            throw error;
          }
        },
        'top',
      );
    },

    async close(file) {
      try {
        const stats = await file.stat();
        quota.closed(file);
        if (stats.nlink === 0 && !quota.isOpen(stats)) await takeBytes(-blockBytes(stats.size));
      } finally {
        quota.closed(file);
        await file.close();
      }
    },

    async read(file, position, length) {
      if (!Number.isSafeInteger(position)) throw refusal.eof();
      const buffer = Buffer.allocUnsafe(Math.min(length, MAX_READ_BYTES));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
      if (bytesRead === 0 && length > 0) throw refusal.eof();
      return buffer.subarray(0, bytesRead);
    },

    async write(file, position, content) {
      const { size } = await file.stat();
      const end = (appending.has(file) ? size : position) + content.length;
      if (!(end <= MAX_FILE_BYTES)) throw refusal.failed('The file would become too large');
      if (end > size) await takeBytes(blockBytes(end) - blockBytes(size));
      for (let done = 0; done < content.length; ) {
        const { bytesWritten } = await file.write(content, done, content.length - done, position + done);
        done += bytesWritten;
      }
    },

    statOpen: async (file) => attributesOf(await file.stat()),
    changeOpen: (file, attributes) => changeAttributes(file, attributes, takeBytes),

    async list(path) {
      const folder = await jail.openFolder(jail.normalize(path));
      try {
        return { folder, entries: await opendir(placeIn(folder, '.')), isBegun: false };
      } catch (error) {
        await folder.handle.close();
        throw error;
      }
    },

    async nextEntries(listing) {
      // A batch may be empty because its files are gone; only an empty list of names is the end.
      for (;;) {
        const names = await nextNames(listing);
        if (names.length === 0 && listing.isBegun) return [];
        if (!listing.isBegun) names.unshift('.', '..');
        listing.isBegun = true;
        // The top folder is its own parent.
        const places = names.map((name) => entryOf(listing, name === '..' ? '.' : name));
        const entries = (await Promise.all(places)).flatMap((entry, i) => {
          return entry === null ? [] : [names[i] === '..' ? asParent(entry) : entry];
        });
        if (entries.length > 0) return entries;
      }
    },

    async stat(path, links) {
      const normal = jail.normalize(path);
      const wanted = links === 'follow' ? await jail.follow(normal) : normal;
      return jail.at(wanted, async (place) => attributesOf(await lstat(place)), 'top');
    },

    async change(path, attributes) {
      const wanted = await jail.follow(jail.normalize(path));
      const access = attributes.size === undefined ? constants.O_RDONLY : constants.O_WRONLY;
      await jail.at(
        wanted,
        async (place) => {
          const file = await open(place, access | constants.O_NOFOLLOW | constants.O_NONBLOCK);
          try {
            await changeAttributes(file, attributes, takeBytes);
          } finally {
            await file.close();
          }
        },
        'top',
      );
    },

    async remove(path) {
      await jail.at(jail.normalize(path), async (place) => {
        const stats = await lstat(place);
        await unlink(place);
        await giveBack(stats);
      });
    },

    async makeFolder(path, { mode }) {
      const permissions = permittedMode(Number(mode ?? 0o777), 'folder');
      await jail.at(jail.normalize(path), (place) => countNew(() => mkdir(place, permissions)));
    },

    async removeFolder(path) {
      await jail.at(jail.normalize(path), (place) => rmdir(place));
      await take({ bytes: 0, files: -1 });
    },

    async rename(from, to, existing) {
      await jail.at(jail.normalize(from), (source) => {
        return jail.at(jail.normalize(to), async (target) => {
          // The draft (section 6.5): an error if the new name is taken.
          const replaced = await ifThere(lstat(target));
          if (existing === 'keep' && replaced !== null) throw refusal.failed('The new name is taken');
          const moved = await lstat(source);
          if (await isPrivate(moved))
            throw refusal.denied(`${PRIVATE} keeps its name, because visitors see what has another one`);
          await rename(source, target);
          // rename(2) does nothing if both names refer to the same file.
          if (replaced !== null && !isSameFile(moved, replaced)) await giveBack(replaced);
        });
      });
    },

    realPath(path) {
      const normal = jail.normalize(path);
      return { filename: normal, longname: normal, attrs: NO_ATTRIBUTES };
    },

    async readLink(path) {
      const target = await jail.at(jail.normalize(path), (place) => readlink(place));
      const shown = isAbsolute(target) ? await jail.inside(target) : target;
      if (shown === null) throw refusal.denied('The link leads out of the website');
      return { filename: shown, longname: shown, attrs: NO_ATTRIBUTES };
    },
  };
}

function asParent(entry: FileEntry): FileEntry {
  return { ...entry, filename: '..', longname: entry.longname.replace(/\.$/, '..') };
}

function isSameFile(one: Stats, other: Stats): boolean {
  return one.dev === other.dev && one.ino === other.ino;
}

/** The system's flags for those of SSH_FXP_OPEN (draft section 6.3). */
function systemFlags(flags: number): number {
  const isWriting = (flags & (OPEN_MODE.WRITE | OPEN_MODE.APPEND)) !== 0;
  const isReading = (flags & OPEN_MODE.READ) !== 0 || !isWriting;
  let system = constants.O_NOFOLLOW | constants.O_NONBLOCK;
  if (isWriting) system |= isReading ? constants.O_RDWR : constants.O_WRONLY;
  if ((flags & OPEN_MODE.APPEND) !== 0) system |= constants.O_APPEND;
  if (!isWriting) return system;
  if ((flags & OPEN_MODE.CREAT) !== 0) system |= constants.O_CREAT;
  if ((flags & OPEN_MODE.TRUNC) !== 0) system |= constants.O_TRUNC;
  if ((flags & OPEN_MODE.EXCL) !== 0) system |= constants.O_EXCL;
  return system;
}
