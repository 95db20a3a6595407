import type { Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { operatorFor } from '../../src/access/caller.ts';
import { visit } from '../edge.ts';
import type { Person } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { type DnsTestServers, findDnsServers, startDnsServers } from '../servers/dns-server.ts';
import {
  expectAccessibleInLong,
  focused,
  PASSWORD,
  type Portal,
  pressEscape,
  startPortal,
} from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

describe.skipIf(!findDnsServers())('the domains of an install', () => {
  let dns: DnsTestServers;
  let portal: Portal;
  let owner: Person;
  let accountId: string;
  /** New for each test and removed with its domains. */
  let install: { id: string; name: string };
  let page: Page;

  beforeAll(async () => {
    dns = await startDnsServers({
      zones: {
        'sites.example': '* A 127.0.0.1',
        'shop.example': '@ A 127.0.0.1\n@ MX 10 mail\nmail A 127.0.0.1\nwww A 127.0.0.1',
      },
    });
    portal = await startPortal({
      dnsPort: dns.authority.port,
      environment: {
        HOMEPORT_SITE_DOMAIN: 'sites.example',
        HOMEPORT_RESOLVERS: `${dns.resolver.host}:${dns.resolver.port}`,
        HOMEPORT_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
        HOMEPORT_EDGE_ADDRESSES: '127.0.0.1',
      },
    });
    ({ accountId, owner } = await portal.homeport.ownedAccount());
    page = await portal.signedIn(owner);
  });
  beforeEach(async () => {
    install = await portal.homeport.install(owner, accountId);
    return () => portal.homeport.services.installs.remove(operatorFor(owner.userId), install.id);
  });
  afterAll(async () => {
    await portal?.remove();
    await dns?.remove();
  });

  const row = (name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
  /** Opens the drawer of a domain. While it is open, the table is hidden from roles. */
  async function open(name: string) {
    await row(name).getByRole('link', { name, exact: true }).click();
    const drawer = page.getByRole('dialog', { name, exact: true });
    await drawer.waitFor();
    return drawer;
  }
  async function close(): Promise<void> {
    await pressEscape(page);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  }
  const said = (sentence: string | RegExp) => page.getByText(sentence).first().waitFor();

  /** Adds these domains and opens the page. A `www` name redirects to its twin. */
  async function show(...names: string[]): Promise<void> {
    if (names.length > 0) {
      const domains = names.map((name) =>
        name.startsWith('www.') ? { name, redirect_to: name.slice('www.'.length) } : { name },
      );
      const { status } = await owner.client.post(`/installs/${install.id}/domains/bulk`, { domains });
      expect(status).toBe(201);
      await portal.homeport.idle();
    }
    await page.goto(`/installs/${install.id}/domains`);
  }

  /** Uses only the keyboard. */
  async function change(name: string, action: string): Promise<void> {
    await row(name)
      .getByRole('button', { name: `Actions for ${name}` })
      .press('Enter');
    await row(name).getByRole('button', { name: action, exact: true }).press('Enter');
  }

  it('are added in bulk, with www names as redirects', async () => {
    await show();
    await page.getByRole('button', { name: 'Add domains' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Domain names').fill('shop.example\nnot a name!');
    await expect.poll(() => dialog.getByRole('button', { name: /^Add \d/ }).textContent()).toMatch(/domains/);
    await dialog.getByRole('button', { name: /^Add/ }).click();
    await dialog.getByText('name!: Domain name must be a host name').waitFor();
    const many = Array.from({ length: 25 }, (_, index) => `x${index}.shop.example`);
    await dialog.getByLabel('Domain names').fill(many.join('\n'));
    await dialog.getByRole('button', { name: 'Add 25 domains' }).click();
    await dialog.getByText('You entered 25 names. Add at most 20').first().waitFor();
    await dialog
      .getByLabel('Domain names')
      .fill('https://shop.example/\nblog.example.org old.example.org büro.example.org');
    await dialog.getByText('www.shop.example redirects to shop.example').waitFor();
    await expectAccessibleInLong(page);
    await dialog.getByRole('button', { name: 'Add 5 domains' }).click();
    await dialog.waitFor({ state: 'hidden' });
    await row('www.shop.example').getByText('Redirects to shop.example').waitFor();
    await row('büro.example.org (xn--bro-hoa.example.org)').waitFor();
    // Only the default domain needs no check.
    await row('shop.example').getByText('Not checked yet').waitFor();
    await expect.poll(() => page.getByText('Served here').count()).toBe(1);
    await row(`${install.name}.sites.example`).getByText('Served here').waitFor();
    await portal.homeport.idle();
    expect(await visit(portal.homeport, 'http://www.shop.example/')).toMatchObject({ status: 301 });

    // One alone opens, because its DNS records are the next step.
    await page.getByRole('button', { name: 'Add domains' }).click();
    await dialog.getByLabel('Domain names').fill('www.menu.example');
    await dialog.getByRole('button', { name: 'Add 2 domains' }).click();
    await page.getByRole('dialog', { name: 'www.menu.example' }).getByText('At your DNS provider').waitFor();
    await close();
    await expect.poll(() => focused(page)).toBe('Add domains');
  });

  onlyInLong(it)('suggest DNS records, with addresses where a CNAME is not possible', async () => {
    await show('shop.example', 'blog.example.org');
    const shop = await open('shop.example');
    await shop.getByText('which cannot have a CNAME').waitFor();
    await shop.getByRole('button', { name: 'Copy the A value of shop.example' }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('127.0.0.1');
    await shop.getByRole('button', { name: 'Copy the A name of shop.example' }).click();
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe('@');
    await close();
    const blog = await open('blog.example.org');
    await blog.getByRole('button', { name: 'Copy the CNAME value of blog.example.org' }).click();
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toBe(`${install.name}.sites.example`);
    await close();
  });

  onlyInLong(it)('have a line each, and a drawer whose domain is in the address', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    const long = `${'a-very-long-label-'.repeat(3)}of.example.org`;
    await show('shop.example', 'www.shop.example', long);
    for (const name of ['shop.example', 'www.shop.example', long]) {
      const height = (await row(name).boundingBox())?.height ?? 0;
      expect(height, name).toBeGreaterThanOrEqual(40);
      expect(height, name).toBeLessThanOrEqual(44);
    }
    await expectBothThemesInLong(page);
    await row('shop.example').getByRole('link', { name: 'shop.example', exact: true }).press('Enter');
    const drawer = page.getByRole('dialog', { name: 'shop.example', exact: true });
    await drawer.getByRole('button', { name: 'Check now: shop.example' }).waitFor();
    // The focus stays in the drawer.
    await drawer.getByText('Homeport (self-signed').waitFor();
    const place =
      'document.activeElement?.closest("[role=dialog]")?.tagName ?? document.activeElement?.outerHTML';
    for (let key = 0; key < 25; key += 1) {
      await page.keyboard.press('Tab');
      await expect.poll(() => page.evaluate(place)).toBe('DIV');
    }
    await expectBothThemesInLong(page);
    await page.setViewportSize({ width: 320, height: 700 });
    await expect.poll(() => page.evaluate('document.documentElement.scrollWidth')).toBe(320);
    const overhang = '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)';
    await expect.poll(() => page.evaluate(`${overhang}(document.querySelector('[role=dialog]'))`)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.reload();
    await drawer.getByRole('heading', { name: 'shop.example', exact: true }).waitFor();
    await close();
    expect(new URL(page.url()).search).toBe('');
    await (await open('www.shop.example')).waitFor();
    await page.goBack();
    await drawer.waitFor({ state: 'detached' });
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const link = row('shop.example').getByRole('link', { name: 'shop.example', exact: true });
    await link.press('Enter');
    await drawer.waitFor();
    await close();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('shop.example');
  });

  onlyInLong(it)('of another account are served once a TXT record verifies them', async () => {
    const { homeport } = portal;
    const other = await homeport.ownedAccount();
    const theirs = await homeport.install(other.owner, other.accountId);
    const added = await other.owner.client.post(`/installs/${theirs.id}/domains`, { name: 'taken.example' });
    expect(added.status).toBe(201);
    await show('taken.example');
    await row('taken.example').getByText('Needs verification').waitFor();
    const taken = await open('taken.example');
    await taken.getByText('Verify that you own taken.example to serve it here').waitFor();
    await expectAccessibleInLong(page);
    await taken.getByRole('button', { name: 'Copy the TXT name of taken.example' }).click();
    await expect
      .poll(() => page.evaluate('navigator.clipboard.readText()'))
      .toBe('_homeport-challenge.taken.example');
    await taken.getByRole('button', { name: 'Copy the TXT value of taken.example' }).click();
    const value = String(await page.evaluate('navigator.clipboard.readText()'));
    expect(value).toMatch(/^homeport-verification=/);
    const verify = taken.getByRole('button', { name: 'Verify: taken.example' });
    await verify.click();
    await said('Could not find the TXT record of taken.example yet.');
    await dns.setZone('taken.example', `@ A 127.0.0.1\n_homeport-challenge TXT "${value}"`);
    await verify.click();
    await said('taken.example is verified.');
    await taken.getByText('This account owns taken.example.').waitFor();
    await taken.getByText('Not checked yet').waitFor();
    await close();
    await homeport.idle();
    expect((await visit(homeport, 'http://taken.example/')).body).toContain(install.name);
  });

  onlyInLong(it)('include one primary domain', async () => {
    await show('shop.example');
    await change('shop.example', 'Make primary');
    await page
      .getByRole('alertdialog')
      .getByText('No check has confirmed yet that shop.example points here')
      .waitFor();
    await page.getByRole('button', { name: 'Make primary anyway' }).click();
    await row('shop.example').getByText('Primary', { exact: true }).waitFor();
    await said('shop.example is now the primary domain.');
  });

  onlyInLong(it)('cannot be deleted while others redirect to them', async () => {
    await show('shop.example', 'www.shop.example', 'old.example.org');
    await change('shop.example', 'Delete');
    const dialog = page.getByRole('alertdialog');
    await dialog.getByRole('button', { name: 'Delete domain' }).click();
    await dialog.getByText('Other domains are redirected to shop.example; change them first.').waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await expect
      .poll(() => page.evaluate('document.activeElement.getAttribute("aria-label")'))
      .toBe('Actions for shop.example');

    await change('old.example.org', 'Delete');
    await dialog.getByRole('button', { name: 'Delete domain' }).click();
    await row('old.example.org').waitFor({ state: 'hidden' });
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toMatch(/: Domains$/);
  });

  onlyInLong(it)('stop redirecting, and redirect to another domain', async () => {
    await show('shop.example', 'www.shop.example');
    await change('www.shop.example', 'Stop redirecting');
    await row('www.shop.example').getByText('Redirects to').waitFor({ state: 'hidden' });
    await change('www.shop.example', 'Redirect');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('To').selectOption('shop.example');
    await dialog.getByRole('button', { name: 'Redirect' }).click();
    await row('www.shop.example').getByText('Redirects to shop.example').waitFor();
  });

  onlyInLong(it)('redirect to HTTPS by a switch', async () => {
    await show('shop.example');
    const toHttps = (await open('shop.example')).getByRole('switch');
    await toHttps.press('Space');
    await page.getByRole('button', { name: 'Redirect anyway' }).click();
    await expect.poll(() => toHttps.isChecked()).toBe(true);
    await close();
    await portal.homeport.idle();
    const answer = await visit(portal.homeport, 'http://shop.example/');
    expect(answer.status).toBe(301);
    expect(answer.headers.location).toMatch(/^https:/);
  });

  onlyInLong(it)('are checked, and show the last report after a reload', async () => {
    await show('shop.example', 'www.shop.example');
    let shop = await open('shop.example');
    await shop.getByRole('button', { name: 'Check now: shop.example' }).click();
    const sentence = /^Works with issues shop\.example answers here with a self-signed certificate/;
    await shop.getByText(sentence).waitFor();
    await expect.poll(() => shop.getByText(/www\.shop\.example answers/).count()).toBe(0);
    await close();
    for (const name of ['shop.example', 'www.shop.example']) {
      await row(name).getByText('Served here').waitFor();
      await row(name).getByText('Works with issues').waitFor();
    }
    // The report also covers the twin.
    const twin = await open('www.shop.example');
    await twin.getByText(/www\.shop\.example answers here/).waitFor();
    await page.goto(`/installs/${install.id}/domains`);
    shop = await open('shop.example');
    await shop.getByText(sentence).waitFor();
    await shop.getByText(/^Last checked/).waitFor();
    await shop.getByText('Details').first().click();
    await shop.getByText('mail.shop.example (10)').waitFor();
    await shop.getByText('self-signed (browsers show a warning)').last().waitFor();
    await expectAccessibleInLong(page);
    await close();
  });

  onlyInLong(it)('limit repeated checks, and report a domain that does not resolve', async () => {
    await show('shop.example', 'blog.example.org');
    const blog = await open('blog.example.org');
    await blog.getByRole('button', { name: 'Check now: blog.example.org' }).click();
    await blog.getByText('Action needed').waitFor();
    await blog
      .getByText(/Register blog\.example\.org|Create|does not exist/)
      .first()
      .waitFor();
    await blog.getByRole('button', { name: /^Check (in \d s|now): blog/ }).waitFor();
    await close();
  });

  onlyInLong(it)('are all checked by one button, with a limit', async () => {
    await show('shop.example', 'www.shop.example', 'blog.example.org');
    await page.getByRole('button', { name: 'Check all', exact: true }).click();
    await page.getByRole('button', { name: /^Check all in \d s$/ }).waitFor();
    const checked = page.getByRole('row').filter({ hasText: /OK|Works with issues|Action needed/ });
    await expect.poll(() => checked.count()).toBe(4);
    await expectAccessibleInLong(page);
  });

  onlyInLong(it)('show their certificate, and its key on request', async () => {
    await show('shop.example');
    const dialog = await open('shop.example');
    await dialog.getByText('Homeport (self-signed').waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('link', { name: 'Download certificate' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('shop.example.pem');
    await expect.poll(() => dialog.getByText('BEGIN PRIVATE KEY').count()).toBe(0);
    await dialog.getByRole('button', { name: 'Show private key' }).click();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await expect.poll(() => focused(page)).toBe('Show private key');
    await dialog.getByRole('button', { name: 'Show private key' }).click();
    await dialog.getByLabel('Your password').fill('not this one');
    await dialog.getByRole('button', { name: 'Show private key' }).click();
    await dialog.getByText('The current password is wrong').first().waitFor();
    await dialog.getByLabel('Your password').fill(PASSWORD);
    await dialog.getByRole('button', { name: 'Show private key' }).click();
    await dialog.getByText('BEGIN PRIVATE KEY').waitFor();
    await expectAccessibleInLong(page);
    await pressEscape(page);
    await dialog.waitFor({ state: 'hidden' });
  });

  onlyInLong(it)('do not show the key to a partial user', async () => {
    await show('shop.example');
    const partial = await portal.homeport.person(accountId, 'partial', [install.id]);
    const theirs = await portal.signedIn(partial, { colorScheme: 'dark', width: 360 });
    for (const name of ['Installs', install.name, 'Domains']) {
      if (name !== install.name) await theirs.getByRole('button', { name: 'Menu' }).click();
      await theirs.getByRole('link', { name, exact: true }).click();
    }
    await theirs.getByRole('link', { name: 'shop.example', exact: true }).click();
    await theirs.getByRole('link', { name: 'Download certificate' }).waitFor();
    expect(await theirs.getByRole('button', { name: 'Show private key' }).count()).toBe(0);
    await theirs.getByRole('button', { name: 'Close' }).click();
    await theirs.getByRole('button', { name: 'Add domains' }).waitFor();
    await expectAccessibleInLong(theirs);
    await expect.poll(() => theirs.evaluate('document.documentElement.scrollWidth')).toBe(360);
  });

  onlyInLong(it)('have a search field if they are many, and keep the search after a reload', async () => {
    await show(...Array.from({ length: 8 }, (_, index) => `many${index}.example.org`));
    await row('many1.example.org').waitFor();
    await page.getByLabel('Search domains').fill('many5');
    await row('many1.example.org').waitFor({ state: 'hidden' });
    await page.reload();
    await row('many5.example.org').waitFor();
    await expect.poll(() => page.getByLabel('Search domains').inputValue()).toBe('many5');
    await expect.poll(() => row('many1.example.org').count()).toBe(0);
  });
});
