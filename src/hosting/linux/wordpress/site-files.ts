import { lstat, readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';
import { type Found, type Owner, type PinnedFolder, pinFolder } from '../../runtime/linux/pinned-folder.ts';
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

const HOMEPORT_FILE = 'homeport.php';
const CLIENT_SETTINGS = '.my.cnf';
const OBJECT_CACHE = 'object-cache.php';
const MUST_USE = 'mu-plugins';
const WP_CONFIG = 'wp-config.php';
const CONTENT_FOLDERS = ['mu-plugins', 'plugins', 'uploads'];
/** A `wp-content` without any of these has nothing of a website. */
const OF_WEBSITES = ['plugins', 'themes', 'uploads'];

/** Whether these are the names in the `wp-content` of a website, and not in one that lost everything. */
export const isContent = (names: readonly string[]): boolean =>
  OF_WEBSITES.some((name) => names.includes(name));

/**
 * Creates the files of a new website: the values of this host, the links to its WordPress and its themes, and the initial
 * files of the customer. Anything that is in a place already stays.
 */
export async function makeSiteFiles(
  layout: LinuxLayout,
  install: SandboxedInstall,
  config: SiteConfig,
  secret: () => string,
  tablePrefix?: string,
): Promise<void> {
  await writeValues(layout, install, config);
  await withFolder(foldersOf(layout, install).htdocs, async (htdocs) => {
    await linkCore(layout, htdocs, install);
    await within(htdocs, 'wp-content', install, async (content) => {
      for (const name of CONTENT_FOLDERS) await (await content.enter(name, install))?.close();
      await makeContent(layout, content, install);
    });
    await writeConfig(htdocs, install, secret, tablePrefix);
  });
}

/**
 * Repairs the files of the host in an existing website. Never creates what belongs to the customer: with another `wp-config.php`,
 * WordPress would not find its tables, and offer its installation to visitors.
 */
export async function repairSiteFiles(
  layout: LinuxLayout,
  install: SandboxedInstall,
  config: SiteConfig,
): Promise<void> {
  await writeValues(layout, install, config);
  await withFolder(foldersOf(layout, install).htdocs, async (htdocs) => {
    await linkCore(layout, htdocs, install);
    await inContent(htdocs, (content) => makeContent(layout, content, install));
    await completeConfig(htdocs, install);
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

/** Writes a lost `wp-config.php` again. The customer's own settings in it are not known. */
export async function rewriteConfig(
  layout: LinuxLayout,
  install: SandboxedInstall,
  secret: () => string,
  tablePrefix: string,
): Promise<void> {
  await withFolder(foldersOf(layout, install).htdocs, (htdocs) =>
    writeConfig(htdocs, install, secret, tablePrefix),
  );
}

/** Points the links of a website to `install.wordpressVersion`. */
export async function linkSite(layout: LinuxLayout, install: SandboxedInstall): Promise<void> {
  await withFolder(foldersOf(layout, install).htdocs, async (htdocs) => {
    await linkCore(layout, htdocs, install);
    await inContent(htdocs, (content) => linkThemes(layout, content, install));
  });
}

/** Lists the differences from what {@link repairSiteFiles} makes, one sentence each. Changes nothing. */
export async function checkSiteFiles(
  layout: LinuxLayout,
  install: SandboxedInstall,
  config: SiteConfig,
): Promise<string[]> {
  const { home, htdocs: path } = foldersOf(layout, install);
  const faults: string[] = [];
  const values = await readValues(home);
  if (values === null) faults.push(`${HOMEPORT_FILE} is missing`);
  else if (values.text !== renderHomeportFile(config)) {
    faults.push(`${HOMEPORT_FILE} has the wrong values`);
  } else if (!isReadable(values, install)) {
    faults.push(`${HOMEPORT_FILE} has the wrong owner or mode`);
  }
  await withFolder(path, async (htdocs) => {
    const core = layout.coreOf(install.wordpressVersion);
    for (const { name, target } of await coreLinks(core)) {
      const found = await htdocs.stat(name);
      const isOurs = found.type === 'none' || isHostLink(layout, found);
      if (isOurs && !isRight(found, target)) faults.push(`${name} is not a link to ${target}`);
    }
    await inContent(htdocs, async (content) => {
      if ((await content.stat(OBJECT_CACHE)).type === 'none') {
        faults.push(`wp-content/${OBJECT_CACHE} is missing`);
      }
      const mustUse = await content.look(MUST_USE);
      try {
        const found = (await mustUse?.stat(HOMEPORT_FILE))?.type ?? 'none';
        if (found === 'none') faults.push(`wp-content/${MUST_USE}/${HOMEPORT_FILE} is missing`);
      } finally {
        await mustUse?.close();
      }
    });
  });
  return faults;
}

async function writeValues(
  layout: LinuxLayout,
  install: SandboxedInstall,
  config: SiteConfig,
): Promise<void> {
  await writeHomeportFile(layout, install, config);
  await writeClientSettings(layout, install, config);
}

async function writeConfig(
  htdocs: PinnedFolder,
  { uid, gid }: Owner,
  secret: () => string,
  tablePrefix?: string,
): Promise<void> {
  if ((await htdocs.stat(WP_CONFIG)).type !== 'none') return completeConfig(htdocs, { uid, gid });
  await htdocs.write(WP_CONFIG, renderWpConfig(secret, tablePrefix), { uid, gid, mode: 0o600 });
}

interface Values {
  text: string;
  uid: number;
  gid: number;
  mode: number;
}

/** In the install's home, which belongs to root: no link of the customer can mislead it. */
async function readValues(home: string): Promise<Values | null> {
  const file = join(home, HOMEPORT_FILE);
  const text = await ifThere(readFile(file, 'utf8'));
  const found = await ifThere(lstat(file));
  if (text === null || found === null) return null;
  return { text, uid: found.uid, gid: found.gid, mode: found.mode & 0o7777 };
}

/** Only the install can read it, and only root can change it. */
const VALUES_MODE = 0o640;

const isReadable = (values: Values, install: Owner) =>
  values.uid === 0 && values.gid === install.gid && values.mode === VALUES_MODE;

async function writeHomeportFile(
  layout: LinuxLayout,
  install: SandboxedInstall,
  config: SiteConfig,
): Promise<void> {
  const { home } = foldersOf(layout, install);
  const text = renderHomeportFile(config);
  const values = await readValues(home);
  if (values?.text === text && isReadable(values, install)) return;
  await withFolder(home, (folder) =>
    folder.write(HOMEPORT_FILE, text, { uid: 0, gid: install.gid, mode: VALUES_MODE }),
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
  await linkThemes(layout, content, install);
  await writeMissing(content, OBJECT_CACHE, OBJECT_CACHE_FILE, install);
  await within(content, MUST_USE, install, (folder) =>
    writeMissing(folder, HOMEPORT_FILE, MUST_USE_FILE, install),
  );
}

/** Does nothing without the `wp-content` of a website. */
async function inContent(
  htdocs: PinnedFolder,
  work: (content: PinnedFolder) => Promise<void>,
): Promise<void> {
  const content = await htdocs.look('wp-content');
  try {
    if (content !== null && isContent(await content.names())) await work(content);
  } finally {
    await content?.close();
  }
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
