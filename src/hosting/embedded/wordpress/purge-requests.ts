import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import Type from 'typebox';
import { Value } from 'typebox/value';
import { hasCode } from '../../../lib/error-code.ts';
import { isPagePath, MOST_PAGE_PATHS } from '../../contract/page-path.ts';
import { requirePlainFolder } from '../host-folder/plain-folder.ts';
import { removeTree } from '../snapshots/archive-exchange.ts';
import { PURGES } from './site.ts';
import { readWebsiteText } from './website-text.ts';

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
    await requirePlainFolder(folder);
    await take(file, taken);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
  try {
    return combined(await readWebsiteText(taken, MOST_BYTES));
  } finally {
    await removeTree(taken);
  }
}

/** The website can have a folder in the place of the taken file. */
async function take(file: string, taken: string): Promise<void> {
  try {
    await rename(file, taken);
  } catch (error) {
    if (!hasCode(error, 'EISDIR', 'ENOTDIR', 'EEXIST', 'ENOTEMPTY')) throw error;
    await removeTree(taken);
    await rename(file, taken);
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
