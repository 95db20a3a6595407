import { createWriteStream } from 'node:fs';
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
  const pack = tar.pack();
  for (const { name, text } of files) {
    pack.entry({ name: `${folder}/${name}`, mode: 0o600, mtime: at }, text);
  }
  pack.finalize();
  try {
    await pipeline(pack, createGzip(), createWriteStream(path, { flags: 'wx', mode: 0o600 }));
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    throw new OperatorError(`${path} exists already. Name another file.`, { cause: error });
  }
}
