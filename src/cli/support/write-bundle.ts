import { open, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import tar from 'tar-stream';
import { hasCode } from '../../lib/error-code.ts';
import { OperatorError } from '../../lib/operator-error.ts';
import type { SupportFile } from './collect.ts';

/** Writes the files as a `.tar.gz` that only this user can read. Throws OperatorError if the file exists already. */
export async function writeBundle(
  path: string,
  { folder, files, at }: { folder: string; files: readonly SupportFile[]; at: Date },
): Promise<void> {
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    if (!hasCode(error, 'EEXIST')) throw error;
    throw new OperatorError(`${path} exists already. Name another file.`, { cause: error });
  });
  try {
    const pack = tar.pack();
    for (const { name, text } of files) {
      pack.entry({ name: `${folder}/${name}`, mode: 0o600, mtime: at }, text);
    }
    pack.finalize();
    await pipeline(pack, createGzip(), file.createWriteStream());
  } catch (error) {
    // Half a bundle would be in the way of the next one.
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
