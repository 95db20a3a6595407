import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ifThere } from '../../../lib/if-there.ts';
import { foldersOf, type SandboxedInstall } from '../isolation/sandbox.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import { themesIn } from './core-tree.ts';
import { type Found, type Owner, type PinnedFolder, pinFolder } from './pinned-folder.ts';
import {
  MUST_USE_FILE,
  OBJECT_CACHE_FILE,
  renderHomeportFile,
  renderWpConfig,
  type SiteConfig,
} from './site-config.ts';

/** Of a core, what no website shows: its own content, our PHP, and what tells strangers the version. */
const NOT_LINKED = new Set([
  'homeport',
  'license.txt',
  'readme.html',
  'wp-config-sample.php',
  'wp-config.php',
  'wp-content',
]);

const HOMEPORT_FILE = 'homeport.php';
const CONTENT_FOLDERS = ['mu-plugins', 'plugins', 'uploads'];

/**
 * Makes the files of a website, or mends them: the values of this host, the links to its WordPress and its themes, and whatever
 * of the first files is missing. What the customer has put in a place stays.
 */
export async function makeSiteFiles(
  layout: LinuxLayout,
  install: SandboxedInstall,
  config: SiteConfig,
  secret: () => string,
): Promise<void> {
  await writeHomeportFile(layout, install, config);
  await withFolder(foldersOf(layout, install).htdocs, async (htdocs) => {
    await linkCore(layout, htdocs, install);
    await within(htdocs, 'wp-content', install, (content) => makeContent(layout, content, install));
    if ((await htdocs.look('wp-config.php')).type === 'none') {
      await htdocs.write('wp-config.php', renderWpConfig(secret), {
        uid: install.uid,
        gid: install.gid,
        mode: 0o600,
      });
    }
  });
}

/** Points the links of a website to `install.wordpressVersion`. */
export async function linkSite(layout: LinuxLayout, install: SandboxedInstall): Promise<void> {
  await withFolder(foldersOf(layout, install).htdocs, async (htdocs) => {
    await linkCore(layout, htdocs, install);
    await within(htdocs, 'wp-content', install, (content) => linkThemes(layout, content, install));
  });
}

/** What of it is not as {@link makeSiteFiles} makes it, one sentence each; none if all is well. Changes nothing. */
export async function checkSiteFiles(
  layout: LinuxLayout,
  install: SandboxedInstall,
  config: SiteConfig,
): Promise<string[]> {
  const { home, htdocs: path } = foldersOf(layout, install);
  const faults: string[] = [];
  // In the install's home, which is root's: no link of the customer's leads elsewhere.
  const values = await ifThere(readFile(join(home, HOMEPORT_FILE), 'utf8'));
  if (values === null) faults.push(`${HOMEPORT_FILE} is missing`);
  else if (values !== renderHomeportFile(config)) {
    faults.push(`${HOMEPORT_FILE} has other values than it should have`);
  }
  await withFolder(path, async (htdocs) => {
    const core = layout.coreOf(install.wordpressVersion);
    for (const { name, target } of await coreLinks(core)) {
      const found = await htdocs.look(name);
      const isOurs = found.type === 'none' || isHostLink(layout, found);
      if (isOurs && !isRight(found, target)) faults.push(`${name} does not lead to ${target}`);
    }
    if ((await htdocs.look('wp-config.php')).type === 'none') faults.push('wp-config.php is missing');
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
    // For the install to read and nobody else, and root's, so that it stays what it is.
    folder.write(HOMEPORT_FILE, text, { uid: 0, gid: install.gid, mode: 0o640 }),
  );
}

interface CoreLink {
  name: string;
  target: string;
}

async function coreLinks(core: string): Promise<CoreLink[]> {
  const names = (await readdir(core)).filter((name) => !NOT_LINKED.has(name));
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
 * Themes that come with WordPress. A customer's own folder of that name stays; one that was deleted comes back, for without any of
 * them WordPress has nothing to fall back to when a theme breaks.
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

/** Sees that the links are there, in the places that are not the customer's, and that no other link of ours is. */
async function setLinks(
  layout: LinuxLayout,
  folder: PinnedFolder,
  links: readonly CoreLink[],
): Promise<void> {
  const wanted = new Map(links.map(({ name, target }) => [name, target]));
  for (const name of await folder.names()) {
    if (wanted.has(name)) continue;
    if (isHostLink(layout, await folder.look(name))) await folder.remove(name);
  }
  for (const [name, target] of wanted) {
    const found = await folder.look(name);
    if (isRight(found, target)) continue;
    if (found.type === 'none' || isHostLink(layout, found)) await folder.link(name, target);
  }
}

/** The web server follows a link only if its target belongs to the same user: root's. */
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
  if ((await folder.look(name)).type === 'none') await folder.write(name, content, { uid, gid, mode: 0o644 });
}

/** Where the customer has put something else in the place of the folder, that is how it shall be, and nothing is done. */
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
