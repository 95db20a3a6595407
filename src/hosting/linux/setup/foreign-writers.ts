import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { runCommand } from '../../../lib/run-command.ts';

/** Users who can write to a folder can replace its entries; in a sticky folder like /tmp, only their own entries. */
const WRITABLE = 0o022;
const STICKY = 0o1000;

/** `owners`: trusted user ids besides root. `except`: a folder to ignore. */
interface Exceptions {
  owners?: readonly number[];
  except?: string;
}

/**
 * The first path in a folder, or on the way to it, that users other than root can change; null if there is none. Such users
 * could control what root runs from there. `path` is a file or folder, and must not contain links.
 */
export async function changeableByOthers(
  path: string,
  { owners = [], except }: Exceptions = {},
): Promise<string | null> {
  const trusted = [0, ...owners];
  for (let above = dirname(path); ; above = dirname(above)) {
    const { uid, mode } = await lstat(above);
    const open = (mode & WRITABLE) !== 0 && (mode & STICKY) === 0;
    if (!trusted.includes(uid) || open) return above;
    if (above === dirname(above)) break;
  }
  const passedOver = except === undefined ? [] : ['-path', literal(except), '-prune', '-o'];
  const foreign = trusted.flatMap((uid) => ['-not', '-uid', String(uid)]);
  // The modes of links have no meaning.
  const open = ['-not', '-type', 'l', '-perm', '/022'];
  const test = ['(', '(', ...foreign, ')', '-o', '(', ...open, ')', ')'];
  const { stdout } = await runCommand('find', [path, ...passedOver, ...test, '-print', '-quit']);
  return stdout === '' ? null : stdout.trimEnd();
}

/** find(1) expects a pattern, so escape it. */
function literal(path: string): string {
  return path.replace(/[\\*?[]/g, '\\$&');
}
