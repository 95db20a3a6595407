import { constants, createWriteStream } from 'node:fs';
import { link, lstat, mkdir, readdir, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { hasCode } from '../../../lib/error-code.ts';
import { openContained } from '../host-folder/contained-file.ts';

/** UpdraftPlus makes a handful of files for each backup. */
const MOST_FILES = 1_000;
/** Codes of errors for a name that is no plain file in plain folders, or that is missing. */
const NOT_PLAIN = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EISDIR', 'EACCES', 'ENXIO', 'ENOTCONTAINED'];

/**
 * Links the plain files of a website's folder into a new folder, without following a link of the website. `path`: the folder, below the
 * existing folder `root`. A missing folder is empty.
 */
export async function linkPlainFiles(root: string, path: readonly string[], to: string): Promise<void> {
  await mkdir(to, { mode: 0o700 });
  try {
    const folder = join(await realpath(root), ...path);
    const names = await readdir(folder);
    for (const name of names.slice(0, MOST_FILES)) await linkPlain(join(folder, name), join(to, name));
  } catch (error) {
    if (!hasCode(error, ...NOT_PLAIN)) throw error;
  }
}

async function linkPlain(from: string, to: string): Promise<void> {
  try {
    const file = await openContained(from, constants.O_RDONLY);
    try {
      const { ino, dev, isFile } = await statOf(file.stat({ bigint: true }));
      if (!isFile) return;
      if (await linked(from, to)) {
        const made = await statOf(lstat(to, { bigint: true }));
        // The website has put something else there meanwhile.
        if (made.ino !== ino || made.dev !== dev) await rm(to);
      } else {
        const copy = createWriteStream(to, { flags: 'wx', mode: 0o600 });
        await pipeline(file.createReadStream({ autoClose: false }), copy);
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    if (!hasCode(error, ...NOT_PLAIN)) throw error;
  }
}

/** False on a file system without hard links. */
async function linked(from: string, to: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (hasCode(error, 'EPERM', 'ENOTSUP', 'ENOSYS', 'EMLINK', 'EXDEV')) return false;
    throw error;
  }
}

async function statOf(stats: Promise<{ ino: bigint; dev: bigint; isFile(): boolean }>) {
  const found = await stats;
  return { ino: found.ino, dev: found.dev, isFile: found.isFile() };
}
