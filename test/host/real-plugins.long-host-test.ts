import { copyFile, lchown, readdir, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type LinuxLayout, linuxLayout } from '../../src/hosting/linux/machine/layout.ts';
import { referencedFiles } from '../../src/hosting/websites/probe/referenced-files.ts';
import { probeVisitors } from '../../src/hosting/websites/probe/visitor-probe.ts';
import { MINUTE_MS } from '../../src/lib/durations.ts';
import { ifThere } from '../../src/lib/if-there.ts';
import { field, text } from '../client.ts';
import { signIn } from '../operations/administrator.ts';
import { createOwner, type Install, type Owner, type Platform } from '../operations/platform.ts';
import { createVisitor, type Seen, type Visitor } from '../operations/visitor.ts';
import { startPlatform } from './platform.ts';
import { createPreparedMachine } from './prepared.ts';
import { REAL_PACKAGES, type RealPackage, zipOf } from './real-packages.ts';

const MENU_LINK = /href=["']((?:[\w-]+\.php)\?[^"'#]+)["']/g;
const BROKEN = /There has been a critical error|<b>(?:Fatal|Parse) error<\/b>/;
const MOST_ADMIN_PAGES = 4;
/** A plugin that redirects to its welcome page does so once. */
const MOST_REDIRECTS = 5;

let platform: Platform;
let layout: LinuxLayout;
let owner: Owner;
let install: Install;
let visitor: Visitor;
/** The theme of a new website. */
let firstTheme = '';
/** Pages of wp-admin in its menu so far. */
const known = new Set<string>();
/** The plugins and themes that are active at the end. */
const active: { kind: RealPackage['kind']; id: string }[] = [];
/** The packages that ran, and how to get the others. */
const lines: string[] = [];

beforeAll(async () => {
  const machine = await createPreparedMachine({ HOMEPORT_WP_CLI_SOURCE: 'packaged' });
  layout = linuxLayout(machine.folder, machine.runFolder);
  platform = await startPlatform(machine);
  owner = await createOwner(platform);
  visitor = createVisitor(platform.edge);
  install = await owner.create();
  firstTheme = (await wp('option', 'get', 'stylesheet')).trim();
  await expectWorks(install);
});
afterAll(async () => {
  process.stdout.write(`${lines.join('\n')}\n`);
  await visitor?.close();
  await platform?.remove();
});

const addressOf = ({ domain }: Install, path: string) => new URL(path, platform.addressOf(domain));

/** Runs a command of WP-CLI that succeeds. */
async function wp(...args: string[]): Promise<string> {
  const ended = await owner.operate(`/installs/${install.id}/wp_cli`, { args });
  expect(ended).toMatchObject({ status: 'succeeded', result: { exit_status: '0' } });
  return text(ended, 'result', 'stdout');
}

const change = (kind: string, id: string, status: string) =>
  owner.operate(`/installs/${install.id}/wordpress/changes`, { kind, id, status });

/** Without a warning. */
function expectSucceeded({ status, error, result }: Record<string, unknown>): void {
  expect({ status, error, warning: field(result, 'warning') }).toEqual({
    status: 'succeeded',
    error: null,
    warning: undefined,
  });
}

/** Opens a page as a browser does, with redirects of the website itself. */
async function open(browser: Visitor, address: URL): Promise<{ seen: Seen; url: URL }> {
  let url = address;
  for (let redirects = 0; ; redirects++) {
    const seen = await browser.open(url.href);
    const { location } = seen.headers;
    if (seen.status < 300 || seen.status > 399 || location === undefined) return { seen, url };
    url = new URL(String(location), url);
    if (redirects === MOST_REDIRECTS || url.host !== address.host)
      throw new Error(`${address} leads to ${url}`);
  }
}

/** A whole page, whose scripts and stylesheets exist. */
async function expectPage(browser: Visitor, address: URL): Promise<string> {
  const { seen, url } = await open(browser, address);
  const [error = null] = BROKEN.exec(seen.text) ?? [];
  const isWhole = seen.text.includes('</html>');
  expect({ status: seen.status, error, isWhole }, url.href).toEqual({
    status: 200,
    error: null,
    isWhole: true,
  });
  for (const path of referencedFiles(seen.text, url)) {
    expect((await browser.open(new URL(path, url).href)).status, `${path} of ${url}`).toBe(200);
  }
  return seen.text;
}

/** A website as its visitors and its administrator see it. Opens the pages that are new in the menu of wp-admin. */
async function expectWorks(website: Install): Promise<{ plugins: string; themes: string }> {
  const { domain } = website;
  const edge = {
    http: { host: '127.0.0.1', port: platform.edge.http },
    https: { host: '127.0.0.1', port: platform.edge.https },
  };
  const site = { primaryHostname: domain, secure: false, names: [domain] };
  expect(await probeVisitors({ website: site, edge })).toEqual([]);
  for (const path of ['/', '/hello-world/']) await expectPage(visitor, addressOf(website, path));

  const administrator = await signIn(platform, owner, website);
  const admin = (path: string) => addressOf(website, `/wp-admin/${path}`);
  try {
    const dashboard = await expectPage(administrator, admin(''));
    const [, menu = ''] = dashboard.split('id="adminmenu"');
    const links = [...menu.split('id="wpcontent"', 1).join().matchAll(MENU_LINK)].map(([, link = '']) =>
      link.replaceAll('&#038;', '&').replaceAll('&amp;', '&'),
    );
    const fresh = [...new Set(links)].filter((link) => !known.has(link));
    const isFirst = known.size === 0;
    for (const link of fresh) known.add(link);
    for (const link of isFirst ? [] : fresh.slice(0, MOST_ADMIN_PAGES)) {
      await expectPage(administrator, admin(link));
    }
    await expectPage(administrator, admin('post-new.php'));
    return {
      plugins: await expectPage(administrator, admin('plugins.php')),
      themes: await expectPage(administrator, admin('themes.php')),
    };
  } finally {
    await administrator.close();
  }
}

/** Expects a website with a plugin or theme that is active. */
async function expectActive({ kind, slug }: Pick<RealPackage, 'kind' | 'slug'>, id: string): Promise<void> {
  const { plugins, themes } = await expectWorks(install);
  if (kind === 'plugin') expect(activeRow(id).test(plugins)).toBe(true);
  else expect(activeTheme(themes)).toBe(slug);
  const stylesheet = await firstStylesheet(join(layout.htdocsOf(install.id), 'wp-content', `${kind}s`, slug));
  if (stylesheet === null) return;
  const path = `/wp-content/${kind}s/${slug}/${encodeURI(stylesheet)}`;
  const { status, headers } = await visitor.open(addressOf(install, path).href);
  expect([status, headers['content-type']], path).toEqual([200, expect.stringContaining('text/css')]);
}

const activeTheme = (page: string) => /<div class="theme active">.*?id="([^"]+)-name"/s.exec(page)?.[1];
const activeRow = (id: string) =>
  new RegExp(`<tr class="active[^"]*"[^>]*data-plugin="${id.replaceAll('.', '\\.')}"`);

async function firstStylesheet(folder: string): Promise<string | null> {
  const all = await ifThere(readdir(folder, { recursive: true, withFileTypes: true }));
  const found = all?.find((entry) => entry.isFile() && entry.name.endsWith('.css'));
  return found === undefined ? null : join(relative(folder, found.parentPath), found.name);
}

/** Lays a ZIP file into the website's private folder, as its owner would by SFTP. */
async function place(zip: string, name: string): Promise<void> {
  const folder = layout.privateOf(install.id);
  const { uid, gid } = await stat(folder);
  await copyFile(zip, join(folder, name));
  await lchown(join(folder, name), uid, gid);
}

describe('real plugins and themes', { timeout: 15 * MINUTE_MS }, () => {
  test.for(REAL_PACKAGES)(
    '$kind $slug ($purpose) comes, works, goes and comes again',
    async (wanted, { skip }) => {
      const { kind, slug, rolledBack } = wanted;
      const found = wanted.from === 'website' ? null : await zipOf(wanted);
      if (found !== null && 'missing' in found) {
        lines.push(`skipped ${kind} ${slug}: ${found.missing}`);
        return skip(found.missing);
      }
      const isIn = async () =>
        (await ifThere(stat(join(layout.htdocsOf(install.id), 'wp-content', `${kind}s`, slug)))) !== null;
      if (found !== null) await place(found.zip, `${slug}.zip`);
      const activated =
        found === null
          ? await change(kind, slug, 'active')
          : await owner.operate(`/installs/${install.id}/wordpress/installations`, {
              kind,
              path: `private/${slug}.zip`,
              activate: true,
            });
      if (rolledBack !== undefined) {
        expect(text(activated, 'error', 'message')).toMatch(rolledBack);
        expect(await isIn()).toBe(false);
        await expectWorks(install);
        lines.push(`refused ${kind} ${slug}: ${text(activated, 'error', 'message')}`);
        return;
      }
      expectSucceeded(activated);
      const id = text(activated, 'result', 'id');
      expect(await isIn()).toBe(true);
      await expectActive(wanted, id);

      const left =
        kind === 'plugin' ? await change(kind, id, 'inactive') : await change(kind, firstTheme, 'active');
      expectSucceeded(left);
      if (found === null) {
        await wp(kind, 'activate', slug);
      } else {
        expectSucceeded(await change(kind, id, 'deleted'));
        expect(await isIn()).toBe(false);
        await wp(kind, 'install', `${slug}.zip`, '--activate');
        await rm(join(layout.privateOf(install.id), `${slug}.zip`));
      }
      await expectActive(wanted, id);
      active.push({ kind, id });
      lines.push(`ran ${kind} ${slug} ${field(activated, 'result', 'version')}`);
    },
  );

  const expectAll = async (website: Install) => {
    const { plugins, themes } = await expectWorks(website);
    const missing = active.filter(({ kind, id }) => kind === 'plugin' && !activeRow(id).test(plugins));
    expect(missing).toEqual([]);
    const theme = active.findLast(({ kind }) => kind === 'theme');
    expect(activeTheme(themes)).toBe(theme?.id ?? firstTheme);
  };

  test('a copy of the website has all of them', async () => {
    const copy = await owner.create();
    const copied = await owner.operate('/install_copy', {
      source_environment_id: install.id,
      destination_environment_id: copy.id,
      notification_emails: [],
    });
    expectSucceeded(copied);
    await expectAll(copy);
    await expectAll(install);
  });

  test('a backup brings all of them back', async () => {
    const backup = await owner.backUp(install);
    await wp('plugin', 'deactivate', '--all');
    await wp('theme', 'activate', firstTheme);
    await rm(join(layout.htdocsOf(install.id), 'wp-content/plugins'), { recursive: true });
    const restored = await owner.operate(`/installs/${install.id}/backups/${backup}/restore`, {
      notification_emails: [],
    });
    expectSucceeded(restored);
    await expectAll(install);
  });
});
