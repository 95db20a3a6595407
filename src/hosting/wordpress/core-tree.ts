import type { Stats } from 'node:fs';
import { copyFile, cp, lstat, readdir, readFile, readlink, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { MINUTE_MS } from '../../lib/durations.ts';
import { hasCode } from '../../lib/error-code.ts';
import { ifThere } from '../../lib/if-there.ts';
import { runCommand } from '../../lib/run-command.ts';
import { PermanentHostError } from '../contract/errors.ts';
import { compareVersions } from '../policy/wordpress-version.ts';

const VERSION = /^\d+(\.\d+){1,2}$/;
/** More than any real path has; circular links exceed it. */
const MOST_LINKS = 40;
/** Depth of links to folders that contain links to folders. */
const MOST_LINKED = 4;
const COPY_MS = 5 * MINUTE_MS;

/** Not part of a shared core: each website has its own, or the host provides it. */
const LEFT_OUT = new Set(['wp-config.php', '.htaccess', '.user.ini', 'php.ini']);

/** Entries of a core that websites do not show: its content, our PHP files, and files that reveal the version. */
export const NOT_SHOWN: ReadonlySet<string> = new Set([
  'homeport',
  'license.txt',
  'readme.html',
  'wp-config-sample.php',
  'wp-config.php',
  'wp-content',
]);

/** Every WordPress has these files. */
const REQUIRED = [
  'index.php',
  'wp-load.php',
  'wp-login.php',
  'wp-settings.php',
  'wp-cron.php',
  'wp-admin/includes/upgrade.php',
  'wp-includes/version.php',
];

/**
 * Copies a WordPress as plain folders and files. Everyone can read the copy, and a link could lead to a file that only root may
 * read, so a link is an error that names it. With `root`, links are followed as in a chroot: an absolute target is a path below
 * `root`. `instead` replaces missing targets, by their absolute path.
 */
export async function copyPlain(
  from: string,
  to: string,
  { root, instead = {} }: { root?: string; instead?: Record<string, string> } = {},
): Promise<void> {
  await copyWithLinks(from, to);
  for (const name of LEFT_OUT) await rm(join(to, name), { recursive: true, force: true });
  await replaceLinks(from, to, 0);

  /** `linked`: the number of links to folders on the way here. */
  async function replaceLinks(source: string, folder: string, linked: number): Promise<void> {
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      const place = join(folder, entry.name);
      const original = join(source, entry.name);
      if (entry.isDirectory()) await replaceLinks(original, place, linked);
      else if (entry.isSymbolicLink()) await replaceLink(original, place, linked);
      else if (!entry.isFile()) throw new PermanentHostError(`${original} is neither a file nor a folder`);
    }
  }

  async function replaceLink(link: string, place: string, linked: number): Promise<void> {
    if (linked > MOST_LINKED) throw new PermanentHostError(`${link} is a link nested too deeply`);
    const target = await follow(link);
    await rm(place);
    const found = await lstat(target);
    if (found.isDirectory()) {
      await copyWithLinks(target, place);
      await replaceLinks(target, place, linked + 1);
    } else if (found.isFile()) {
      await copyFile(target, place);
    } else {
      throw new PermanentHostError(`${link} leads to neither a file nor a folder`);
    }
  }

  async function follow(link: string): Promise<string> {
    if (root === undefined) throw new PermanentHostError(`${link} is a link: WordPress has no links`);
    const { path, missing } = await resolveBelow(root, link);
    if (missing === null) return path;
    const other = instead[missing];
    if (other === undefined)
      throw new PermanentHostError(`${link} is a link to ${missing}, which is missing`);
    return other;
  }
}

/** Uses GNU's cp if it can: it copies thousands of small files in a third of the time, and without loading this process. */
async function copyWithLinks(from: string, to: string): Promise<void> {
  if (process.platform !== 'linux') return cp(from, to, { recursive: true, verbatimSymlinks: true });
  const options = ['--recursive', '--no-dereference', '--reflink=auto', '--no-target-directory'];
  await runCommand('cp', [...options, '--', `${from}/.`, to], { timeoutMs: COPY_MS });
}

/**
 * Resolves `path`, which is below `root`, as if `root` were the root of the file system. `missing`: the path as seen from
 * there, if nothing is there.
 */
async function resolveBelow(root: string, path: string): Promise<{ path: string; missing: string | null }> {
  let at = root;
  let ahead = partsOf(relative(root, path));
  for (let links = 0; ahead.length > 0; ) {
    const [name = '', ...rest] = ahead;
    ahead = rest;
    if (name === '..') {
      at = at === root ? root : dirname(at);
      continue;
    }
    const next = join(at, name);
    const found = await stats(next);
    if (found === null) return { path: next, missing: `/${[relative(root, next), ...rest].join('/')}` };
    if (!found.isSymbolicLink()) {
      at = next;
      continue;
    }
    links++;
    if (links > MOST_LINKS) throw new PermanentHostError(`${path} is a circular link`);
    const target = await readlink(next);
    if (target.startsWith('/')) at = root;
    ahead = [...partsOf(target), ...rest];
  }
  return { path: at, missing: null };
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.');
}

async function stats(path: string): Promise<Stats | null> {
  try {
    return await lstat(path);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return null;
    throw error;
  }
}

/**
 * The version of the WordPress in a folder, from its version file. `called`: the folder's name in messages.
 *
 * @throws PermanentHostError if it is not WordPress, not a release, or has no theme
 */
export async function checkCore(folder: string, called = folder): Promise<string> {
  for (const name of REQUIRED) {
    if (!(await isFile(join(folder, name)))) {
      throw new PermanentHostError(`${called} does not contain WordPress: ${name} is missing`);
    }
  }
  const version = versionIn(await readFile(join(folder, 'wp-includes/version.php'), 'utf8'));
  if ((await themesIn(folder)).length === 0) {
    throw new PermanentHostError(
      `WordPress ${version} in ${called} has no theme, and shows nothing without one`,
    );
  }
  return version;
}

/** Rejects with a {@link PermanentHostError} if this host does not have that core. */
export async function requireCore(core: string): Promise<void> {
  if (await isFile(join(core, 'wp-load.php'))) return;
  throw new PermanentHostError(`this host does not have WordPress ${basename(core)}: add it first`);
}

/** Parses `wp-includes/version.php`. */
export function versionIn(text: string): string {
  const version = /^\s*\$wp_version\s*=\s*(['"])(.*?)\1\s*;/m.exec(text)?.[2];
  if (version === undefined) throw new PermanentHostError('wp-includes/version.php has no WordPress version');
  if (!VERSION.test(version)) {
    throw new PermanentHostError(`WordPress ${version} is not a release: only releases can be added`);
  }
  return version;
}

/** Themes of a core, sorted: folders that WordPress would list. */
export async function themesIn(core: string): Promise<string[]> {
  const themes = join(core, 'wp-content/themes');
  const found: string[] = [];
  for (const name of await namesIn(themes)) {
    if (await isFile(join(themes, name, 'style.css'))) found.push(name);
  }
  return found.sort();
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return [];
    throw error;
  }
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return false;
    throw error;
  }
}

/** The versions of WordPress in the folder of a host that has one folder for each, newest first. */
export async function heldVersions(cores: string): Promise<string[]> {
  return newestFirst(((await ifThere(readdir(cores))) ?? []).filter((name) => VERSION.test(name)));
}

/** Newest first. */
export function newestFirst(versions: readonly string[]): string[] {
  return [...versions].sort((a, b) => compareVersions(b, a));
}
