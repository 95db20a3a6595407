import { join } from 'node:path';
import { HOUR_MS } from '../../../lib/durations.ts';
import { runCommand } from '../../../lib/run-command.ts';
import { asUser, foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** Folders at the top, where a wrong owner of a whole tree shows without reading thousands of files. */
const TOP_LEVELS = '2';
const WALK_MS = HOUR_MS;
/** Folders that visitors' files are in. */
const SHOWN = ['themes', 'plugins', 'uploads'];

/** Names an entry near the document root that belongs to another user; null without one. The links of the host belong to root. */
export async function foreignEntry(layout: LinuxLayout, install: SandboxedInstall): Promise<string | null> {
  const { htdocs } = foldersOf(layout, install);
  const { stdout } = await runCommand('/usr/bin/find', [
    ...[htdocs, '-xdev', '-mindepth', '1', '-maxdepth', TOP_LEVELS],
    ...foreign(layout, install),
    ...['-printf', '%P', '-quit'],
  ]);
  return stdout === '' ? null : stdout;
}

/** Gives everything below the document root to the install, except the links of the host. */
export async function takeOwnership(layout: LinuxLayout, install: SandboxedInstall): Promise<void> {
  const { htdocs } = foldersOf(layout, install);
  const { uid, gid } = install;
  await runCommand(
    '/usr/bin/find',
    [
      ...[htdocs, '-xdev', '-mindepth', '1'],
      ...foreign(layout, install),
      // In the folder that find has open, so that no link of the customer in the path leads out.
      ...['-execdir', '/usr/bin/chown', '--no-dereference', `${uid}:${gid}`, '--', '{}', '+'],
    ],
    { timeoutMs: WALK_MS },
  );
}

function foreign({ cores }: LinuxLayout, { uid }: SandboxedInstall): string[] {
  return ['!', '-uid', `${uid}`, '!', '(', '-type', 'l', '-lname', `${cores}/*`, ')'];
}

/**
 * Lets the website read its own files, and visitors reach those in `wp-content`, as far as modes forbid it. Works as the install, which
 * can change its own files only.
 */
export async function loosenModes(layout: LinuxLayout, install: SandboxedInstall): Promise<void> {
  const { htdocs } = foldersOf(layout, install);
  const content = join(htdocs, 'wp-content');
  const find = async (...args: string[]) => {
    const [program, ...rest] = asUser(install, ['/usr/bin/find', ...args]);
    await runCommand(program, rest, { timeoutMs: WALK_MS });
  };
  // One by one, because find opens a folder after that.
  await find(
    htdocs,
    '-xdev',
    '-type',
    'd',
    '!',
    '-perm',
    '-u=rwx',
    '-exec',
    '/usr/bin/chmod',
    'u+rwx',
    '--',
    '{}',
    ';',
  );
  await find(
    htdocs,
    '-xdev',
    '-type',
    'f',
    '!',
    '-perm',
    '-u=r',
    '-exec',
    '/usr/bin/chmod',
    'u+r',
    '--',
    '{}',
    '+',
  );
  const folders = [content, ...SHOWN.map((name) => join(content, name))];
  const named = folders.flatMap((path, index) => [...(index === 0 ? [] : ['-o']), '-path', path]);
  await find(
    htdocs,
    '-xdev',
    '-maxdepth',
    TOP_LEVELS,
    '-type',
    'd',
    '(',
    ...named,
    ')',
    '!',
    '-perm',
    '-o=x',
    '-exec',
    '/usr/bin/chmod',
    'o+x',
    '--',
    '{}',
    '+',
  );
}
