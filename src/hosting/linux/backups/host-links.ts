import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { hasCode } from '../../../lib/error-code.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';

/** Where a website has links to the WordPress of this host, below its document root. */
const LINKED_FROM = ['.', 'wp-content/themes'];

/**
 * The links of a website to the WordPress that it shares, relative to its home: they are this host's and no backup's. What
 * the customer has put in the place of one is a file like any other.
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

/** Nothing of a folder that is somewhere else in truth: the customer's links lead nowhere here. */
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
