/** Takes the screenshots in `docs/portal/` from a temporary Homeport with demo content: `npm run docs:pictures`. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { chromium, type Page } from 'playwright-core';
import { operatorFor } from '../src/access/caller.ts';
import { fillDemo } from '../src/app/demo.ts';
import { ensureOwner } from '../src/app/first-start.ts';
import { startHomeport } from '../src/app/homeport.ts';
import { readConfig } from '../src/config/config.ts';
import { OLDEST_FIRST } from '../src/lib/page.ts';
import { CHROMIUM, FLAGS } from '../test/chromium.ts';
import { freePort } from '../test/servers/free-port.ts';
import { buildWhenMissing } from '../web/build.ts';

const PASSWORD = 'a password for pictures';
const folder = join(import.meta.dirname, 'portal');

const dataDir = mkdtempSync(join(tmpdir(), 'homeport-pictures-'));
await buildWhenMissing(join(import.meta.dirname, '../web/dist'));
const port = await freePort();
const config = readConfig({
  HOMEPORT_DATA_DIR: dataDir,
  HOMEPORT_LISTEN: `127.0.0.1:${port}`,
  HOMEPORT_PUBLIC_URL: `https://localhost:${port}`,
  HOMEPORT_EDGE_HTTP: '127.0.0.1:0',
  HOMEPORT_EDGE_HTTPS: '127.0.0.1:0',
  HOMEPORT_SSH_LISTEN: '127.0.0.1:0',
  HOMEPORT_SITE_DOMAIN: 'sites.example',
});
const homeport = await startHomeport(
  config,
  { log: pino({ level: 'silent' }) },
  { api: true, hosting: true },
);
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
try {
  const { productionId, email, accountId } = await prepare();
  mkdirSync(folder, { recursive: true });
  const light = await signIn(email, 'light');
  await take(light, `/accounts/${accountId}/sites`, 'Sites', 'sites');
  await take(light, `/accounts/${accountId}/people`, 'People', 'people');
  await take(light, `/accounts/${accountId}/activity`, 'Activity', 'activity');
  await take(light, `/installs/${productionId}/domains`, /Domains/, 'domains');
  await take(light, '/me/api-access', 'API access', 'api-access');
  const dark = await signIn(email, 'dark');
  await take(dark, `/installs/${productionId}/backups`, /Backups/, 'backups-dark');
} finally {
  await browser.close();
  await homeport.stop();
  rmSync(dataDir, { recursive: true });
}

/** Creates the demo content with a backup, and an owner who can sign in. */
async function prepare(): Promise<{ productionId: string; email: string; accountId: string }> {
  const { platform, services } = homeport;
  const owner = await ensureOwner(platform, services);
  if (!owner) throw new Error('the database was not empty');
  await fillDemo(platform, services);
  await homeport.idle();
  const caller = operatorFor(owner.userId);
  const { results } = await services.installs.list(caller, { limit: 1, offset: 0, ...OLDEST_FIRST }, {});
  const [production] = results;
  if (!production) throw new Error('the demo made no install');
  await services.backups.request(caller, production.id, {
    description: 'Before the summer menu',
    notification_emails: [],
  });
  await homeport.idle();
  const link = await services.passwords.createLink(owner.userId, 'first');
  const origin = { device: null, address: '127.0.0.1', requestId: 'pictures' };
  await services.passwords.setByLink(link.slice(link.lastIndexOf('/') + 1), { password: PASSWORD }, origin);
  const person = await services.accountUsers.get(caller, owner.accountId, owner.userId);
  return { productionId: production.id, email: person.email, accountId: owner.accountId };
}

async function signIn(email: string, colorScheme: 'light' | 'dark'): Promise<Page> {
  const context = await browser.newContext({
    baseURL: config.publicUrl,
    ignoreHTTPSErrors: true,
    colorScheme,
    reducedMotion: 'reduce',
    viewport: { width: 1120, height: 720 },
  });
  const page = await context.newPage();
  await page.goto('/');
  await page.getByLabel('Email address').fill(email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Account' }).waitFor();
  return page;
}

async function take(page: Page, path: string, heading: string | RegExp, name: string): Promise<void> {
  await page.goto(path);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
  await page.getByRole('progressbar').first().waitFor({ state: 'detached' });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}
