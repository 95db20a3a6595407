import fs, { constants } from 'node:fs';

const SAFELY = constants.O_NOFOLLOW | constants.O_NONBLOCK;
const IS_LINUX = process.platform === 'linux';

/**
 * Opens the file that an absolute path names now, and not what a link meanwhile leads to. The caller closes it.
 *
 * @throws with the code ENOENT if a folder of the path is a link
 */
export function openExact(path: string, flags: number, mode?: number): number {
  const fd = fs.openSync(path, flags | SAFELY, mode);
  try {
    if (IS_LINUX) {
      const opened = fs.readlinkSync(`/proc/self/fd/${fd}`);
      if (opened !== path && opened !== `${path} (deleted)`) {
        throw Object.assign(new Error('a folder of the path is a link'), { code: 'ENOENT' });
      }
    }
    return fd;
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}
