import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ItemKind } from '../../src/hosting/contract/wordpress-changes.ts';
import { MINUTE_MS } from '../../src/lib/durations.ts';
import { messageOf } from '../../src/lib/error-message.ts';
import { ifThere } from '../../src/lib/if-there.ts';
import { wordpressCore } from './wordpress-core.ts';

const run = promisify(execFile);

/** A plugin or theme that is used in the field. */
export interface RealPackage {
  kind: ItemKind;
  /** Name of its folder, and of its ZIP file on wordpress.org. */
  slug: string;
  /** The reason why websites have it. */
  purpose: string;
  /**
   * `website`: new websites have it. `release`: it comes with a release of WordPress. `folder`: only from the folder that
   * {@link FOLDER_SETTING} names.
   */
  from: { npm: string } | { debian: string } | 'website' | 'release' | 'folder';
  /** It cannot work on this host. Why its activation is rolled back. */
  rolledBack?: RegExp;
}

/** Environment variable with a folder of ZIP files, `SLUG.zip` or `SLUG.VERSION.zip`. These come before other sources. */
export const FOLDER_SETTING = 'HOMEPORT_TEST_PLUGINS';

const plugin = (slug: string, purpose: string, from: RealPackage['from'] = 'folder'): RealPackage => ({
  kind: 'plugin',
  slug,
  purpose,
  from,
});
const theme = (slug: string, purpose: string, from: RealPackage['from'] = 'folder'): RealPackage => ({
  kind: 'theme',
  slug,
  purpose,
  from,
});

/** In the order in which the test installs them. Each stays active while the next one comes. */
export const REAL_PACKAGES: readonly RealPackage[] = [
  plugin('akismet', 'spam', 'release'),
  plugin('xrds-simple', 'service discovery', { debian: 'wordpress-xrds-simple' }),
  plugin('shibboleth', 'single sign-on', { debian: 'wordpress-shibboleth' }),
  // Homeport's web server signs no one in, so the form fails.
  {
    ...plugin('http-authentication', 'sign-on by the web server', {
      debian: 'wordpress-plugin-http-authentication',
    }),
    rolledBack: /the login form answers 500, and 200 before/,
  },
  plugin('sociallane-elements', 'page builder widgets', { npm: '@sociallane/elements@1.0.18' }),
  plugin('contact-form-7', 'contact forms'),
  plugin('wordpress-seo', 'SEO'),
  plugin('autodescription', 'SEO'),
  plugin('elementor', 'page builder'),
  plugin('live-composer-page-builder', 'page builder'),
  plugin('polylang', 'multilingual'),
  plugin('qtranslate-xt', 'multilingual'),
  plugin('woocommerce', 'shop'),
  plugin('wordfence', 'security'),
  plugin('all-in-one-wp-security-and-firewall', 'security'),
  plugin('wp-super-cache', 'page cache'),
  theme('twentytwentythree', 'block theme', 'website'),
  theme('twentytwentyfour', 'block theme', 'website'),
  theme('twentytwentytwo', 'block theme', { debian: 'wordpress-theme-twentytwentytwo' }),
  theme('twentytwentyone', 'classic theme', { debian: 'wordpress-theme-twentytwentyone' }),
  theme('undescores-for-npm', 'classic theme', { npm: 'undescores-for-npm@1.0.0' }),
  theme('astra', 'classic theme'),
  theme('understrap', 'classic theme', { npm: 'understrap@1.0.1' }),
];

/** Outside the repository, whose history must not contain other people's code. */
const cacheFolder = () =>
  join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'homeport-tests', 'packages');

/** The ZIP file of a package, fetched once; a sentence about how to get it if it cannot be had. */
export async function zipOf(wanted: RealPackage): Promise<{ zip: string } | { missing: string }> {
  const given = process.env[FOLDER_SETTING];
  const own = given === undefined ? null : await zipIn(given, wanted.slug);
  if (own !== null) return { zip: own };
  const hint = `Put ${wanted.slug}.zip into a folder, and name it in ${FOLDER_SETTING}`;
  if (wanted.from === 'website' || wanted.from === 'folder') return { missing: hint };
  const source = wanted.from === 'release' ? ['release', wanted.slug] : Object.values(wanted.from);
  const cached = join(cacheFolder(), `${source.join('-').replaceAll('/', '-')}.zip`);
  // WordPress may be a newer one by now.
  if (wanted.from !== 'release' && (await ifThere(stat(cached)))) return { zip: cached };
  await mkdir(cacheFolder(), { recursive: true });
  const scratch = await mkdtemp(join(cacheFolder(), 'fetching-'));
  try {
    await fetchFolder(wanted, scratch);
    await run('python3', ['-m', 'zipfile', '-c', 'fetched.zip', `${wanted.slug}/`], { cwd: scratch });
    await rename(join(scratch, 'fetched.zip'), cached);
    return { zip: cached };
  } catch (error) {
    return { missing: `${hint} (${messageOf(error).split('\n', 1)[0]})` };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** `SLUG.zip`, or `SLUG.VERSION.zip` with the first version. */
async function zipIn(folder: string, slug: string): Promise<string | null> {
  const name = (await readdir(folder)).find((file) => file.startsWith(`${slug}.`) && file.endsWith('.zip'));
  return name === undefined ? null : join(folder, name);
}

/** Lays the package's folder, named as the slug, into `scratch`. Runs none of its code. */
async function fetchFolder({ kind, slug, from }: RealPackage, scratch: string): Promise<void> {
  if (typeof from === 'string') {
    await cp(join(wordpressCore(), 'wp-content', `${kind}s`, slug), join(scratch, slug), { recursive: true });
    return;
  }
  const options = { cwd: scratch, timeout: 5 * MINUTE_MS };
  if ('npm' in from) {
    const { stdout } = await run('npm', ['pack', '--silent', '--ignore-scripts', from.npm], options);
    await mkdir(join(scratch, slug));
    await run('tar', ['-xzf', stdout.trim(), '--strip-components=1', '-C', slug], options);
    return;
  }
  // As root, because apt's own user cannot use the folder.
  await run('apt-get', ['-qq', '-o', 'APT::Sandbox::User=root', 'download', from.debian], options);
  const [archive = ''] = (await readdir(scratch)).filter((name) => name.endsWith('.deb'));
  await run('dpkg-deb', ['--extract', archive, 'root'], options);
  await rename(join(scratch, 'root/usr/share/wordpress/wp-content', `${kind}s`, slug), join(scratch, slug));
}
