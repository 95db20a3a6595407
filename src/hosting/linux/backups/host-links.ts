import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** Folders of a website with links to the WordPress of this host, relative to the document root. */
const LINKED_FROM = ['.', 'wp-content/themes'];

/**
 * The links of a website to the shared WordPress, relative to its home. They belong to this host and not to a backup. Anything
 * that the customer has put in the place of one is an ordinary file.
 */
export async function hostLinks(layout: LinuxLayout, install: SandboxedInstall): Promise<string[]> {
  const { home, htdocs } = foldersOf(layout, install);
  const links: string[] = [];
  for (const folder of LINKED_FROM.map((name) => join(htdocs, name))) {
    for (const name of await namesIn(folder)) {
      const path = join(folder, name);
      if (await isHostLink(path, layout)) links.push(relative(home, path));
    }
  }
  return links;
}

/** Skips a folder that is really a link: the customer's links are not followed. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return (await realpath(folder)) === folder ? await readdir(folder) : [];
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return [];
    throw error;
  }
}

async function isHostLink(path: string, { cores }: LinuxLayout): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink() && (await readlink(path)).startsWith(`${cores}/`);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EINVAL')) return false;
    throw error;
  }
}
