import { readFile, stat } from 'node:fs/promises';
import { hasCode } from '../../../lib/error-code.ts';

/**
 * Whether the sandbox of a running daemon shows a former folder at the path of a home. That folder was deleted or moved away since the
 * daemon started. `pid`: the main process of {@link fpmSpec}.
 */
export async function hasStaleHome(pid: number, home: string): Promise<boolean> {
  const sandbox = await firstChild(pid);
  const inside = sandbox === null ? null : await firstChild(sandbox);
  // It is starting or ending.
  if (inside === null) return false;
  const [present, seen] = await Promise.all([inodeAt(home), inodeAt(`/proc/${inside}/root${home}`)]);
  return present !== null && present !== seen && (await firstChild(sandbox ?? pid)) === inside;
}

/** As `finish()` of the daemon's shell finds PHP. */
async function firstChild(pid: number): Promise<number | null> {
  const text = await unlessGone(readFile(`/proc/${pid}/task/${pid}/children`, 'utf8'));
  const first = Number(text?.trim().split(' ')[0]);
  return first > 0 ? first : null;
}

async function inodeAt(path: string): Promise<string | null> {
  const found = await unlessGone(stat(path, { bigint: true }));
  return found === null ? null : `${found.dev}:${found.ino}`;
}

async function unlessGone<Result>(read: Promise<Result>): Promise<Result | null> {
  try {
    return await read;
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH')) return null;
    throw error;
  }
}
