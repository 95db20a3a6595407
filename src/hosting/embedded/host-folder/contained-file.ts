import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

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
  // Opening a pipe would otherwise wait for its other end.
  const file = await open(path, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK, mode);
  try {
    const meant = Buffer.from(path);
    const opened = await pathOf(file, meant);
    if (!opened.equals(meant)) throw new NotContainedError('A folder above the file is a symbolic link.');
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Present path of the open file: from the kernel on Linux, elsewhere from its folder. */
async function pathOf(file: FileHandle, path: Buffer): Promise<Buffer> {
  if (process.platform === 'linux') return readlink(`/proc/self/fd/${file.fd}`, { encoding: 'buffer' });
  const text = path.toString('latin1');
  const folder = await realpath(Buffer.from(dirname(text), 'latin1'), { encoding: 'buffer' });
  return Buffer.concat([folder, Buffer.from(`/${basename(text)}`, 'latin1')]);
}
