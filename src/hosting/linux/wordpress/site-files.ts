import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';
import { NOT_SHOWN, themesIn } from '../../wordpress/core-tree.ts';
import {
  MUST_USE_FILE,
  OBJECT_CACHE_FILE,
  renderClientSettings,
  renderHomeportFile,
  renderWpConfig,
  type SiteConfig,
  withStopLine,
} from '../../wordpress/site-config.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { type Found, type Owner, type PinnedFolder, pinFolder } from './pinned-folder.ts';

const HOMEPORT_FILE = 'homeport.php';
const CLIENT_SETTINGS = '.my.cnf';
const CONTENT_FOLDERS = ['mu-plugins', 'plugins', 'uploads'];

/**
 * Creates or repairs the files of a website: the values of this host, the links to its WordPress and its themes, and missing
 * initial files. Anything that the customer has put in a place stays.
 */
export async function makeSiteFiles(
  layout: LinuxLayout,
  install: SandboxedInstall,
  config: SiteConfig,
  secret: () => string,
  tablePrefix?: string,
): Promise<void> {
  await writeHomeportFile(layout, install, config);
  await writeClientSettings(layout, install, config);
  await withFolder(foldersOf(layout, install).htdocs, async (htdocs) => {
    await linkCore(layout, htdocs, install);
    await within(htdocs, 'wp-content', install, (content) => makeContent(layout, content, install));
    if ((await htdocs.stat('wp-config.php')).type === 'none') {
      await htdocs.write('wp-config.php', renderWpConfig(secret, tablePrefix), {
        uid: install.uid,
        gid: install.gid,
        mode: 0o600,
      });
    } else {
      await completeConfig(htdocs, install);
    }
  });
}

/** More than the rendered file has. */
const MOST_OF_CONFIG = 64 * 1024;

/** Adds the line that WP-CLI needs, unless the customer has changed the file. */
async function completeConfig(htdocs: PinnedFolder, { uid, gid }: Owner): Promise<void> {
  const changedAt = await htdocs.changedAt('wp-config.php');
  const text = await htdocs.end('wp-config.php', MOST_OF_CONFIG);
  const complete = text === null ? null : withStopLine(text);
  if (complete === null || (await htdocs.changedAt('wp-config.php')) !== changedAt) return;
  await htdocs.write('wp-config.php', complete, { uid, gid, mode: 0o600 });
}

/** Points the links of a website to `install.wordpressVersion`. */
export async function linkSite(layout: LinuxLayout, install: SandboxedInstall): Promise<void> {
  await withFolder(foldersOf(layout, install).htdocs, async (htdocs) => {
    await linkCore(layout, htdocs, install);
    await within(htdocs, 'wp-content', install, (content) => linkThemes(layout, content, install));
  });
}

/** Lists the differences from what {@link makeSiteFiles} makes, one sentence each. Changes nothing. */
export async function checkSiteFiles(
  layout: LinuxLayout,
  install: SandboxedInstall,
  config: SiteConfig,
): Promise<string[]> {
  const { home, htdocs: path } = foldersOf(layout, install);
  const faults: string[] = [];
  // In the install's home, which belongs to root: no link of the customer can mislead it.
  const values = await ifThere(readFile(join(home, HOMEPORT_FILE), 'utf8'));
  if (values === null) faults.push(`${HOMEPORT_FILE} is missing`);
  else if (values !== renderHomeportFile(config)) {
    faults.push(`${HOMEPORT_FILE} has the wrong values`);
  }
  await withFolder(path, async (htdocs) => {
    const core = layout.coreOf(install.wordpressVersion);
    for (const { name, target } of await coreLinks(core)) {
      const found = await htdocs.stat(name);
      const isOurs = found.type === 'none' || isHostLink(layout, found);
      if (isOurs && !isRight(found, target)) faults.push(`${name} is not a link to ${target}`);
    }
    if ((await htdocs.stat('wp-config.php')).type === 'none') faults.push('wp-config.php is missing');
  });
  return faults;
}

async function writeHomeportFile(
  layout: LinuxLayout,
  install: SandboxedInstall,
  config: SiteConfig,
): Promise<void> {
  const { home } = foldersOf(layout, install);
  const text = renderHomeportFile(config);
  if ((await ifThere(readFile(join(home, HOMEPORT_FILE), 'utf8'))) === text) return;
  await withFolder(home, (folder) =>
    // Only the install can read it, and only root can change it.
    folder.write(HOMEPORT_FILE, text, { uid: 0, gid: install.gid, mode: 0o640 }),
  );
}

/** `mysql` works without options in a shell. The file then belongs to the customer; a deleted one comes back. */
async function writeClientSettings(
  layout: LinuxLayout,
  install: SandboxedInstall,
  config: SiteConfig,
): Promise<void> {
  const { home, dotfiles } = foldersOf(layout, install);
  // A website that is restored beside the present one has no shell.
  if (!(await readdir(home)).includes(basename(dotfiles))) return;
  await withFolder(dotfiles, async (folder) => {
    if ((await folder.stat(CLIENT_SETTINGS)).type !== 'none') return;
    const { uid, gid } = install;
    await folder.write(CLIENT_SETTINGS, renderClientSettings(config), { uid, gid, mode: 0o600 });
  });
}

interface CoreLink {
  name: string;
  target: string;
}

async function coreLinks(core: string): Promise<CoreLink[]> {
  const names = (await readdir(core)).filter((name) => !NOT_SHOWN.has(name));
  return names.sort().map((name) => ({ name, target: join(core, name) }));
}

async function linkCore(layout: LinuxLayout, htdocs: PinnedFolder, install: SandboxedInstall): Promise<void> {
  await setLinks(layout, htdocs, await coreLinks(layout.coreOf(install.wordpressVersion)));
}

async function makeContent(
  layout: LinuxLayout,
  content: PinnedFolder,
  install: SandboxedInstall,
): Promise<void> {
  for (const name of CONTENT_FOLDERS) await (await content.enter(name, install))?.close();
  await linkThemes(layout, content, install);
  await writeMissing(content, 'object-cache.php', OBJECT_CACHE_FILE, install);
  await within(content, 'mu-plugins', install, (folder) =>
    writeMissing(folder, 'homeport.php', MUST_USE_FILE, install),
  );
}

/**
 * Links the themes of the core. A customer's own folder of that name stays. A deleted link comes back, because WordPress needs
 * a theme to fall back to when another one breaks.
 */
async function linkThemes(
  layout: LinuxLayout,
  content: PinnedFolder,
  install: SandboxedInstall,
): Promise<void> {
  const core = layout.coreOf(install.wordpressVersion);
  const links = (await themesIn(core)).map((name) => ({
    name,
    target: join(core, 'wp-content/themes', name),
  }));
  await within(content, 'themes', install, (themes) => setLinks(layout, themes, links));
}

/** Ensures that these are our only links. Leaves the customer's entries alone. */
async function setLinks(
  layout: LinuxLayout,
  folder: PinnedFolder,
  links: readonly CoreLink[],
): Promise<void> {
  const wanted = new Map(links.map(({ name, target }) => [name, target]));
  for (const name of await folder.names()) {
    if (wanted.has(name)) continue;
    if (isHostLink(layout, await folder.stat(name))) await folder.remove(name);
  }
  for (const [name, target] of wanted) {
    const found = await folder.stat(name);
    if (isRight(found, target)) continue;
    if (found.type === 'none' || isHostLink(layout, found)) await folder.link(name, target);
  }
}

/** The web server follows a link only if the link and its target have the same owner: root. */
function isRight(found: Found, target: string): boolean {
  return found.type === 'link' && found.target === target && found.uid === 0;
}

function isHostLink(layout: LinuxLayout, found: Found): boolean {
  return found.type === 'link' && found.target.startsWith(`${layout.cores}/`);
}

async function writeMissing(
  folder: PinnedFolder,
  name: string,
  content: string,
  { uid, gid }: Owner,
): Promise<void> {
  if ((await folder.stat(name)).type === 'none') await folder.write(name, content, { uid, gid, mode: 0o644 });
}

/** Does nothing if the customer has replaced the folder by something else. */
async function within(
  folder: PinnedFolder,
  name: string,
  owner: Owner,
  work: (inner: PinnedFolder) => Promise<void>,
): Promise<void> {
  const inner = await folder.enter(name, owner);
  if (inner === null) return;
  try {
    await work(inner);
  } finally {
    await inner.close();
  }
}

async function withFolder(path: string, work: (folder: PinnedFolder) => Promise<void>): Promise<void> {
  const folder = await pinFolder(path);
  try {
    await work(folder);
  } finally {
    await folder.close();
  }
}
