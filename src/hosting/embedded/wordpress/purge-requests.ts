import { constants } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { hasCode } from '../../../lib/error-code.ts';
import { isPagePath, MOST_PAGE_PATHS } from '../../policy/page-path.ts';
import { PURGES } from './site.ts';

/** Pages that a website asks to purge: all of them, or these paths. */
export type PurgeRequest = { everything: true } | { paths: string[] };

const MOST_BYTES = 1024 * 1024;
const Line = Type.Union([
  Type.Object({ everything: Type.Literal(true) }),
  Type.Object({ paths: Type.Array(Type.String()) }),
]);

/** Takes the purges that a website has written since the last call; null without any. Whatever cannot be read purges everything. */
export async function takePurges(folder: string): Promise<PurgeRequest | null> {
  const file = join(folder, PURGES);
  const taken = `${file}.taken`;
  try {
    await rename(file, taken);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
  try {
    return combined(await readTaken(taken));
  } finally {
    await rm(taken, { recursive: true, force: true });
  }
}

/** Null if it is not a small plain file: the website can put anything there. */
async function readTaken(path: string): Promise<string | null> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const stats = await file.stat();
      if (!stats.isFile() || stats.size > MOST_BYTES) return null;
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    if (hasCode(error, 'ELOOP', 'ENXIO', 'EISDIR')) return null;
    throw error;
  }
}

function combined(text: string | null): PurgeRequest {
  const paths = new Set<string>();
  for (const line of (text ?? 'unreadable').split('\n')) {
    if (line === '') continue;
    const request = parsed(line);
    if (request === null || 'everything' in request) return { everything: true };
    for (const path of request.paths) paths.add(path);
  }
  if (paths.size > MOST_PAGE_PATHS || ![...paths].every(isPagePath)) return { everything: true };
  return { paths: [...paths] };
}

function parsed(line: string): PurgeRequest | null {
  try {
    const value: unknown = JSON.parse(line);
    return Value.Check(Line, value) ? value : null;
  } catch {
    return null;
  }
}
