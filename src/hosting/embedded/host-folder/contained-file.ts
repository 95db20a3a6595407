import { closeSync, constants, openSync, readlinkSync, realpathSync } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** No link is followed. Opening a pipe would otherwise wait for its other end. */
const SAFE = constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The opened file is not the intended one: a folder above it is, or has become, a symbolic link. */
export class NotContainedError extends Error {
  override name = 'NotContainedError';
  readonly code = 'ENOTCONTAINED';
}

/**
 * Opens a file without following any symbolic link, in its folders or in its last segment. After opening, the real path is compared with
 * `path`, so replacing a folder by a link between check and use is detected.
 *
 * @param path absolute and free of links as far as the caller knows, so equal to its real path.
 *   Bytes rather than text if names need not be UTF-8.
 * @throws NotContainedError, or the error of the system call (ELOOP: the last segment is a link)
 */
export async function openContained(
  path: Buffer | string,
  flags: number,
  mode?: number,
): Promise<FileHandle> {
  const file = await open(path, flags | SAFE, mode);
  try {
    const meant = Buffer.from(path);
    requireSame(await pathOf(file, meant), meant);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** As {@link openContained}, for threads that wait for the disk. Returns the number of the open file. */
export function openContainedSync(path: Buffer, flags: number): number {
  const file = openSync(path, flags | SAFE);
  try {
    requireSame(pathOfSync(file, path), path);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function requireSame(opened: Buffer, meant: Buffer): void {
  if (!opened.equals(meant)) throw new NotContainedError('A folder above the file is a symbolic link.');
}

/** Present path of the open file: from the kernel on Linux, elsewhere from its folder. */
async function pathOf(file: FileHandle, path: Buffer): Promise<Buffer> {
  if (process.platform === 'linux') return readlink(linkOf(file.fd), { encoding: 'buffer' });
  return besideFolder(await realpath(folderOf(path), { encoding: 'buffer' }), path);
}

function pathOfSync(file: number, path: Buffer): Buffer {
  if (process.platform === 'linux') return readlinkSync(linkOf(file), { encoding: 'buffer' });
  return besideFolder(realpathSync.native(folderOf(path), { encoding: 'buffer' }), path);
}

const linkOf = (file: number): string => `/proc/self/fd/${file}`;
const folderOf = (path: Buffer): Buffer => Buffer.from(dirname(path.toString('latin1')), 'latin1');
const besideFolder = (folder: Buffer, path: Buffer): Buffer =>
  Buffer.concat([folder, Buffer.from(`/${basename(path.toString('latin1'))}`, 'latin1')]);
