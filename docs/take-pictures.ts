/**
 * Takes a picture of every page of the portal in both themes and two sizes into `docs/portal/`, from a temporary Homeport with demo
 * content, in front of a Linux host, which has every page: `sudo npm run docs:pictures [-- FOLDER]`, on Debian after
 * `npm run host:setup -- --packages`. It follows the links of the sidebar and the tabs, so that new pages are in it, too.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext, Page, Request } from 'playwright-core';
import { writeDemo } from '../src/app/demo.ts';
import { linuxLayout } from '../src/hosting/linux/machine/layout.ts';
import { OLDEST_FIRST } from '../src/lib/page.ts';
import { type DemoPortal, startDemoPortal } from '../test/demo-portal.ts';
import { visit } from '../test/edge.ts';
import { createTestMachine, type TestMachine } from '../test/host/machine.ts';
import { installPlugin } from '../test/host/plugin-source.ts';

const folder = process.argv[2] ?? join(import.meta.dirname, 'portal');
const THEMES = ['light', 'dark'] as const;
const SIZES = { wide: { width: 1440, height: 900 }, narrow: { width: 390, height: 844 } };
/** Of WebP. Text stays sharp, and a picture has about 20 kB. */
const QUALITY = 80;

/** A page is complete once it has awaited no answer this often. */
const QUIET_LOOKS = 5;
const LOOK_EVERY_MS = 50;

/** Pages that no sidebar and no tab leads to. */
const OTHERS = ['/me/profile', '/me/security', '/me/api-access', '/me/ssh-keys', '/me/notifications'];

/** What visitors ask for, so that the logs have lines. */
const VISITED = ['/', '/?p=1', '/', '/menu.pdf', '/wp-login.php', '/feed/', '/.env', '/about/'];

const machine = await createTestMachine({ HOMEPORT_SITE_DOMAIN: 'sites.example' });
let portal: DemoPortal | undefined;
try {
  await machine.start();
  portal = await startDemoPortal(machine.environment);
  const installId = await prepare(portal, machine);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const first = await portal.signIn({ viewport: SIZES.wide });
  const paths = await findPages(await first.newPage(), installId);
  await first.close();
  for (const [size, viewport] of Object.entries(SIZES)) {
    for (const colorScheme of THEMES) {
      const context = await portal.signIn({ viewport, colorScheme, reducedMotion: 'reduce' });
      for (const path of paths) await take(context, path, `${nameOf(path)}-${size}-${colorScheme}`);
      await context.clearCookies();
      await take(context, '/sign-in', `sign-in-${size}-${colorScheme}`);
      await context.close();
    }
  }
  process.stdout.write(`${paths.length + 1} pages are in ${folder}.\n`);
} finally {
  await portal?.stop();
  await machine.remove();
}

/** Adds content, visits, a plugin with an update, a redirect and a backup to the demo. Returns its production install. */
async function prepare(
  { homeport, owner }: DemoPortal,
  { config, folder, runFolder }: TestMachine,
): Promise<string> {
  const { platform, services } = homeport;
  const { edgeHttp, edgeHttps, sshListen } = config;
  const hosting = { edgeHttp, edgeHttps, ssh: sshListen };
  const websites = await writeDemo({ platform, services, hosting }, new AbortController().signal);
  for (const path of VISITED)
    await Promise.all(websites.map((website) => visit({ hosting }, new URL(path, website).href)));
  const { results } = await services.installs.list(owner, { limit: 1, offset: 0, ...OLDEST_FIRST }, {});
  const [production] = results;
  if (!production) throw new Error('the demo made no install');
  const plugin = await installPlugin(linuxLayout(folder, runFolder), production);
  await plugin.offer('');
  await services.wordpress.refresh(owner, production.id);
  const redirect = { from: '/menu.pdf', to: '/the-winter-menu-is-here/', status: 301 as const };
  await services.redirects.create({ caller: owner, installId: production.id }, redirect);
  await services.backups.request(owner, production.id, {
    description: 'Before the summer menu',
    notification_emails: [],
  });
  await homeport.idle();
  return production.id;
}

/** Follows the sidebar and the tabs from the first page and from an install. */
async function findPages(page: Page, installId: string): Promise<string[]> {
  const found = new Set<string>();
  const waiting = ['/', `/installs/${installId}`];
  for (const path of waiting) {
    await open(page, path);
    found.add(new URL(page.url()).pathname);
    const links = page.locator('#sidebar nav a, nav[aria-label^="Sections of"] a');
    for (const link of await links.all()) {
      const href = await link.getAttribute('href');
      if (href !== null && !waiting.includes(href)) waiting.push(href);
    }
    if (path.endsWith('/sites')) {
      const [site] = await page.locator('main a[href^="/sites/"]').all();
      const href = await site?.getAttribute('href');
      if (href && !waiting.includes(href)) waiting.push(href, path.replace(/sites$/, 'new-site'));
    }
  }
  return [...found, ...OTHERS];
}

/** The name of a page's pictures: `sites`, `install-domains`, `me-profile`. */
function nameOf(path: string): string {
  const [, kind = '', id, section] = path.split('/');
  if (kind === 'accounts') return section ?? 'account';
  if (kind === 'installs') return `install-${section ?? 'overview'}`;
  return kind === 'me' ? `me-${id}` : kind.replace(/s$/, '');
}

async function open(page: Page, path: string): Promise<void> {
  const awaited = new Set<Request>();
  page.on('request', (request) => awaited.add(request));
  page.on('requestfinished', (request) => awaited.delete(request));
  page.on('requestfailed', (request) => awaited.delete(request));
  await page.goto(path);
  await page.getByRole('heading', { level: 1 }).waitFor();
  // An answer may lead to further requests. The stream of live changes never ends.
  let quiet = 0;
  while (quiet < QUIET_LOOKS) {
    await sleep(LOOK_EVERY_MS);
    const isQuiet = [...awaited].every((request) => request.resourceType() === 'eventsource');
    quiet = isQuiet ? quiet + 1 : 0;
  }
  await page.evaluate('document.fonts.ready.then(() => {})');
}

async function take(context: BrowserContext, path: string, name: string): Promise<void> {
  const page = await context.newPage();
  await open(page, path);
  const devTools = await context.newCDPSession(page);
  const { data } = await devTools.send('Page.captureScreenshot', { format: 'webp', quality: QUALITY });
  writeFileSync(join(folder, `${name}.webp`), Buffer.from(data, 'base64'));
  await page.close();
}
