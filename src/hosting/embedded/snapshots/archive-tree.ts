import type { BigIntStats, Dirent } from 'node:fs';
import { lstat, readdir, realpath } from 'node:fs/promises';
import { hasCode } from '../../../lib/error-code.ts';
import { messageOf } from '../../../lib/error-message.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import { quoted } from '../../websites/backup-contents/archive-names.ts';

/** An entry of the walked folder. `path` is relative to that folder, and empty for the folder itself. */
export type TreeItem =
  | { path: Buffer; kind: 'file' | 'symlink' | 'special' }
  /** With its state when it was listed. A folder is always yielded before its content. */
  | { path: Buffer; kind: 'directory'; stats: BigIntStats };

interface Waiting {
  path: Buffer;
  kind: TreeItem['kind'];
}

const SLASH = Buffer.from('/');
const NOTHING: ReadonlySet<string> = new Set();

/** Joins `name` to the folder `path`; an empty path is the top. */
export function joinBytes(path: Buffer, name: Buffer): Buffer {
  return path.length === 0 ? name : Buffer.concat([path, SLASH, name]);
}

/**
 * Yields everything below `root`, folders before their content, in byte order of names. Links are never followed. Entries that vanish
 * between listing and visiting are left out, and so are the paths `leftOut`.
 *
 * @param root absolute and real
 */
export async function* walkTree(
  root: Buffer,
  leftOut: ReadonlySet<string> = NOTHING,
): AsyncGenerator<TreeItem> {
  const waiting: Waiting[] = [{ path: Buffer.alloc(0), kind: 'directory' }];
  for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
    const { path, kind } = item;
    if (kind !== 'directory') {
      yield { path, kind };
      continue;
    }
    const listed = await list(root, path);
    if (listed === null) {
      if (path.length === 0) throw new Error('the folder is not there');
      continue;
    }
    yield { path, kind, stats: listed.stats };
    // A stack: last in, first out.
    for (const child of listed.children.reverse()) {
      const below = joinBytes(path, child.name);
      if (leftOut.size > 0 && leftOut.has(below.toString())) continue;
      waiting.push({ path: below, kind: kindOf(child) });
    }
  }
}

interface Listed {
  stats: BigIntStats;
  /** Sorted. */
  children: Dirent<Buffer>[];
}

/** A folder and its content, or null if no folder exists at exactly that path. */
async function list(root: Buffer, path: Buffer): Promise<Listed | null> {
  const folder = path.length === 0 ? root : joinBytes(root, path);
  try {
    // A folder above may have become a link to files outside this website.
    const real = await realpath(folder, { encoding: 'buffer' });
    if (!real.equals(folder)) return null;
    const stats = await lstat(folder, { bigint: true });
    const children = await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
    return { stats, children: children.sort((a, b) => Buffer.compare(a.name, b.name)) };
  } catch (error) {
    if (isGone(error)) return null;
    throw unreadable(path, error);
  }
}

/** The error to report for an unreadable file, with a sentence for the website's owner. */
export function unreadable(path: Buffer, cause: unknown): Error {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  if (code === 'EACCES' || code === 'EPERM') {
    return new PermanentHostError(
      `${quoted(path)} cannot be read. Give its owner the permission to read it, or delete it.`,
      { cause },
    );
  }
  return new Error(`${quoted(path)} cannot be read: ${messageOf(cause)}`, {
    cause,
  });
}

/** Whether a system call failed because its target is missing or has been replaced. */
export function isGone(error: unknown): boolean {
  return hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENOTCONTAINED');
}

function kindOf(entry: Dirent<Buffer>): TreeItem['kind'] {
  if (entry.isDirectory()) return 'directory';
  if (entry.isFile()) return 'file';
  if (entry.isSymbolicLink()) return 'symlink';
  return 'special';
}
