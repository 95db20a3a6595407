import { lstat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { runCommand } from '../machine/run-command.ts';

/** Whoever may write in a folder may exchange what is in it; in one like /tmp, only what is his own. */
const WRITABLE = 0o022;
const STICKY = 0o1000;

/** `owners`: user ids that count besides root's. `except`: a folder in which it does not matter. */
interface Exceptions {
  owners?: readonly number[];
  except?: string;
}

/**
 * What is in a folder, or on the way to it, that others than root can change: the first path found, null if there is none. What
 * root runs from there they could make it run. `path`, a file or a folder, leads through no link.
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
  // The modes of links mean nothing.
  const open = ['-not', '-type', 'l', '-perm', '/022'];
  const test = ['(', '(', ...foreign, ')', '-o', '(', ...open, ')', ')'];
  const { stdout } = await runCommand('find', [path, ...passedOver, ...test, '-print', '-quit']);
  return stdout === '' ? null : stdout.trimEnd();
}

/** find(1) takes a pattern. */
function literal(path: string): string {
  return path.replace(/[\\*?[]/g, '\\$&');
}
