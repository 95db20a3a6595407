import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { text } from '../client.ts';
import type { Person } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { type AcmeServer, hasPebble, startAcmeServer } from '../servers/acme-server.ts';
import { certificateMaker, type MadeCertificate, pkcs8 } from '../servers/certificate-maker.ts';
import { type DnsTestServers, findDnsServers, startDnsServers } from '../servers/dns-server.ts';
import { freePort } from '../servers/free-port.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { focused, type Portal, pressEscape, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

const HERE = '@ A 127.0.0.1\n* A 127.0.0.1\n';

describe.skipIf(!findDnsServers() || !hasPebble())('the certificates of an install', () => {
  let folder: string;
  let dns: DnsTestServers;
  let acme: AcmeServer;
  let portal: Portal;
  let accountId: string;
  let owner: Person;
  let install: { id: string; name: string };
  let page: Page;
  let root: MadeCertificate;
  let middle: MadeCertificate;
  const made = certificateMaker(new Date());

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-certificates-'));
    dns = await startDnsServers({
      zones: { 'sites.example': HERE, 'shop.example': HERE, 'away.example': '@ A 127.0.0.9\n' },
    });
    const edgePort = await freePort();
    acme = await startAcmeServer({ dnsServer: dns.resolver, httpPort: edgePort });
    const ca = join(folder, 'roots.pem');
    writeFileSync(ca, `${acme.ca}\n${await acme.root()}`);
    portal = await startPortal({
      dnsPort: dns.authority.port,
      environment: {
        HOMEPORT_SITE_DOMAIN: 'sites.example',
        HOMEPORT_EDGE_HTTP: `127.0.0.1:${edgePort}`,
        HOMEPORT_RESOLVERS: `${dns.resolver.host}:${dns.resolver.port}`,
        HOMEPORT_ALLOW_PRIVATE_TARGETS: '127.0.0.0/8',
        HOMEPORT_ACME_DIRECTORY: acme.directoryUrl,
        HOMEPORT_ACME_CA: ca,
      },
    });
    ({ accountId, owner } = await portal.homeport.ownedAccount());
    install = await portal.homeport.install(owner, accountId);
    for (const name of ['shop.example', 'www.shop.example', 'away.example']) await add(name);
    root = await made({ name: 'Private Root', days: [-10, 3650] });
    middle = await made({ name: 'Private Issuer', days: [-10, 900] }, root);
    page = await portal.signedIn(owner, { at: `/installs/${install.id}/domains` });
    await page.getByRole('link', { name: 'Certificates', exact: true }).click();
  });
  afterAll(async () => {
    await portal?.remove();
    await acme?.remove();
    await dns?.remove();
    rmSync(folder, { recursive: true, force: true });
  });

  async function add(name: string): Promise<string> {
    const { body } = await owner.client.post(`/installs/${install.id}/domains`, { name });
    await portal.homeport.idle();
    return text(body, 'id');
  }

  const row = (name: string) =>
    page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
  const dialog = () => page.getByRole('dialog');
  /** Opens the drawer of a certificate, by the title of its row. */
  async function open(name: string) {
    await page.getByRole('link', { name, exact: true }).click();
    const drawer = page.getByRole('dialog', { name: `Certificate of ${name}` });
    await drawer.waitFor();
    return drawer;
  }
  async function close(): Promise<void> {
    await pressEscape(page);
    await dialog().waitFor({ state: 'hidden' });
  }
  const orderNow = (name: string) => page.getByRole('button', { name: `Order now: ${name}`, exact: true });

  /** A certificate of the private issuer for the shop. */
  const leaf = (days: [number, number] = [-1, 89], names = ['shop.example', '*.shop.example']) =>
    made({ name: 'shop.example', names, days }, middle);

  /** Fills the fields and submits. */
  async function submit(texts: { certificate?: string; chain?: string; key?: string }): Promise<void> {
    const labels = { certificate: 'Certificate', chain: 'Intermediate certificates', key: 'Private key' };
    for (const field of ['certificate', 'chain', 'key'] as const) {
      const value = texts[field];
      if (value !== undefined)
        await dialog().getByRole('textbox', { name: labels[field], exact: true }).fill(value);
    }
    await dialog().getByRole('button', { name: 'Upload certificate' }).click();
  }

  /** Expects that the focused field is this one, and that it has this error. */
  async function expectError(label: string, message: string | RegExp): Promise<void> {
    await dialog().getByText(message).waitFor();
    const field = dialog().getByRole('textbox', { name: label, exact: true });
    expect(await field.getAttribute('aria-invalid'), label).toBe('true');
    await expect
      .poll(() => page.evaluate('document.activeElement.name'))
      .toBe(await field.getAttribute('name'));
  }

  it('are listed with their names, issuer, expiry and renewal, and with the reason for a missing one', async () => {
    await row('shop.example').getByText('Automatic', { exact: true }).waitFor();
    await row('shop.example').getByText('Valid', { exact: true }).waitFor();
    await row('away.example').getByText('Self-signed', { exact: true }).waitFor();
    await row('away.example').getByText('Order failed').waitFor();
    await expectBothThemesInLong(page);
    await expectRoomWhenNarrow(page);
    const away = await open('away.example');
    expect(new URL(page.url()).searchParams.has('certificate')).toBe(true);
    await away.getByText('Browsers warn').waitFor();
    await away.getByText(/^The last order for away\.example failed: .*127\.0\.0\.9/).waitFor();
    await away.getByText(/^Next automatic order: /).waitFor();
    await expectBothThemesInLong(page);
    await close();
    expect(await focused(page)).toBe('away.example');
    const shop = await open('shop.example');
    await shop.getByText(/^Pebble Intermediate CA/).waitFor();
    await shop.getByText(/^Valid until .+ \(in .+\)\.$/).waitFor();
    await shop.getByText(/^Automatic, planned for /).waitFor();
    await shop.getByRole('link', { name: 'Download certificate' }).waitFor();
    await expectBothThemesInLong(page);
    await expectRoomWhenNarrow(page);
  });

  it('are ordered, with progress until they are issued', async () => {
    const { body } = await owner.client.get(`/installs/${install.id}/ssl_certificates`);
    await orderNow('shop.example').press('Enter');
    const order = page.getByRole('list', { name: 'Order for shop.example' });
    await order.getByText('Ordering a certificate for shop.example').waitFor();
    await order.getByText('Done', { exact: true }).waitFor();
    await page.getByRole('button', { name: /^Order now: shop\.example$/ }).waitFor();
    // The drawer stays, with the new certificate.
    await dialog()
      .getByText(/^Automatic, planned for /)
      .waitFor();
    await close();
    expect((await owner.client.get(`/installs/${install.id}/ssl_certificates`)).body).not.toEqual(body);
  });

  onlyInLong(it)('are not issued for a domain that leads elsewhere, and the order says why', async () => {
    await open('away.example');
    await orderNow('away.example').click();
    const order = page.getByRole('list', { name: 'Order for away.example' });
    await order.getByText('Failed', { exact: true }).waitFor();
    await order.getByText('127.0.0.9').waitFor();
    await order.getByText('Check the DNS records of the domain.').waitFor();
    await expectBothThemesInLong(page);
    await close();
  });

  onlyInLong(it)(
    'cannot be ordered for wildcards and for names that the install does not serve',
    async () => {
      const other = await portal.homeport.install(owner, accountId);
      await owner.client.post(`/installs/${other.id}/domains`, { name: 'taken.example' });
      await add('*.wild.example');
      await add('taken.example');
      for (const [name, reason] of [
        ['*.wild.example', 'Certificates for wildcard names cannot be ordered.'],
        ['taken.example', 'Another install serves taken.example.'],
      ] as const) {
        await (await open(name)).getByText(reason).waitFor();
        await expect.poll(() => orderNow(name).count()).toBe(0);
        await close();
      }
    },
  );

  onlyInLong(it)('are uploaded with errors at the right field', async () => {
    const [good, other, old] = [await leaf(), await leaf(), await leaf([-90, -1])];
    const elsewhere = await leaf([-1, 89], ['elsewhere.example']);
    const chain = middle.pem + root.pem;
    const key = pkcs8(good.key);
    await page.getByRole('button', { name: 'Upload certificate' }).press('Enter');
    await dialog().getByRole('textbox', { name: 'Certificate', exact: true }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.name')).toBe('certificate');
    await expectBothThemesInLong(page);
    await expectRoomWhenNarrow(page);

    await submit({ certificate: key, key });
    await expectError('Certificate', /contains a private key\. It was not sent/);
    await submit({ certificate: good.pem, key: 'MIIB' });
    await expectError('Private key', 'This text is not PEM.');
    await submit({ key: 'x'.repeat(20_001) });
    await expectError('Private key', /This text is too long\. At most 20,000/);
    const passphrase = { cipher: 'aes-256-cbc', passphrase: 'secret', type: 'pkcs8', format: 'pem' } as const;
    await submit({ chain, key: String(good.key.export(passphrase)) });
    await expectError('Private key', /encrypted with a passphrase/);
    await expectBothThemesInLong(page);
    await submit({ key: pkcs8(other.key) });
    await expectError('Private key', /does not belong to the certificate/);
    await submit({ key, chain: root.pem + middle.pem });
    await expectError('Intermediate certificates', /not in order: certificate 3 issued certificate 1/);
    await submit({ chain: '' });
    await expectError('Intermediate certificates', /its issuer "Private Issuer" is missing/);
    await submit({ certificate: old.pem, chain, key: pkcs8(old.key) });
    await expectError('Certificate', /expired on/);
    await submit({ certificate: elsewhere.pem, key: pkcs8(elsewhere.key) });
    await expectError('Certificate', /for elsewhere\.example, and the install serves/);
    await pressEscape(page);
    await dialog().waitFor({ state: 'hidden' });
  });

  it('are uploaded from files, and the page keeps no key', async () => {
    const good = await leaf();
    const key = pkcs8(good.key);
    const sent: string[] = [];
    page.on('console', (message) => sent.push(message.text()));
    await page.getByRole('button', { name: 'Upload certificate' }).click();
    const choose = async (label: string, name: string, content: string | Buffer) =>
      dialog()
        .getByLabel(`File: ${label}`, { exact: true })
        .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });
    await choose('Certificate', 'shop.pfx', Buffer.from([0x30, 0x82, 0xff]));
    await expectError('Certificate', /^shop\.pfx is not PEM/);
    await choose('Certificate', 'shop.pem', Buffer.alloc(100_001, 'x'));
    await expectError('Certificate', /^shop\.pem is too large/);
    await choose('Certificate', 'shop.pem', good.pem);
    await dialog().getByText('Read from shop.pem.').waitFor();
    await choose('Intermediate certificates', 'chain.pem', middle.pem + root.pem);
    await choose('Private key', 'shop.key', key);
    await expect.poll(() => dialog().getByRole('textbox', { name: 'Private key' }).inputValue()).toBe(key);
    expect(await page.content()).not.toContain(key.split('\n')[1]);
    await dialog().getByRole('button', { name: 'Upload certificate' }).click();
    await page.getByText('Certificate uploaded. shop.example and www.shop.example use it now.').waitFor();
    await dialog().waitFor({ state: 'hidden' });
    await row('shop.example and 1 more').getByText('Uploaded', { exact: true }).waitFor();
    await expectBothThemesInLong(page);
    await expectRoomWhenNarrow(page);
    const uploaded = await open('shop.example and 1 more');
    await uploaded.getByText('Private Issuer').waitFor();
    await uploaded.getByText('shop.example, *.shop.example').waitFor();
    await uploaded.getByText('Upload a new certificate before this one expires.').waitFor();
    await expectBothThemesInLong(page);
    await uploaded.getByRole('button', { name: 'Replace with another certificate' }).click();
    await expect.poll(() => page.getByRole('textbox', { name: 'Private key' }).inputValue()).toBe('');
    await pressEscape(page);
    await page.getByRole('textbox', { name: 'Private key' }).waitFor({ state: 'hidden' });
    await close();
    expect(sent.join('\n')).not.toContain('PRIVATE KEY');
  });

  onlyInLong(it)('that were uploaded are replaced by an order after the name is typed', async () => {
    await open('shop.example and 1 more');
    await orderNow('www.shop.example').click();
    const confirm = page.getByRole('alertdialog');
    const submitButton = confirm.getByRole('button', { name: 'Order and replace' });
    await expect.poll(() => submitButton.getAttribute('aria-disabled')).toBe('true');
    await confirm.getByLabel('Type www.shop.example to confirm').fill('www.shop.example');
    await expectBothThemesInLong(page);
    await submitButton.press('Enter');
    await page.getByRole('dialog', { name: 'Certificate of shop.example', exact: true }).waitFor();
    expect(await focused(page)).not.toBe('BODY');
    await close();
    await row('www.shop.example').getByText('Automatic', { exact: true }).waitFor();
    await row('shop.example').getByText('Uploaded', { exact: true }).waitFor();
  });

  onlyInLong(it)('are shown to a partial user without their key', async () => {
    const partial = await portal.homeport.person(accountId, 'partial', [install.id]);
    const theirs = await portal.signedIn(partial, { colorScheme: 'dark', width: 390 });
    await theirs.goto(`/installs/${install.id}/certificates`);
    await theirs.getByRole('link', { name: 'www.shop.example', exact: true }).click();
    await theirs.getByRole('link', { name: 'Download certificate' }).waitFor();
    expect(await theirs.getByRole('button', { name: 'Show private key' }).count()).toBe(0);
    await theirs.getByRole('button', { name: 'Close' }).click();
    await theirs.getByRole('button', { name: 'Upload certificate' }).waitFor();
    await expect.poll(() => theirs.evaluate('document.documentElement.scrollWidth')).toBe(390);
  });

  onlyInLong(it)('are refused by the limit of the account, and the page says when to try again', async () => {
    const { body } = await owner.client.get(`/installs/${install.id}/domains`);
    const path = `/installs/${install.id}/domains/${text(body, 'results', 1, 'id')}/ssl_certificate`;
    for (let nth = 0; nth < 60; nth++) await owner.client.post(path);
    await open('away.example');
    await orderNow('away.example').click();
    await page
      .getByText(/Too many certificate orders of this account\. Try again in \d+ (minutes|seconds?)\./)
      .waitFor();
  });
});
