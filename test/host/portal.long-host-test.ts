import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPortal } from '../../web/build.ts';
import { PASSWORD, type Portal, startPortal } from '../browser/portal.ts';
import { hasChromium } from '../chromium.ts';
import { type Visit, visit } from '../edge.ts';
import { installName } from '../homeport.ts';
import { mailsTo } from '../mails.ts';
import type { TestMachine } from './machine.ts';
import { createPreparedMachine } from './prepared.ts';

const run = promisify(execFile);

/** The portal in front of real WordPress: a user's first day, in one browser and one terminal. */
describe.skipIf(!hasChromium)('the portal of a Linux host', () => {
  const name = installName();
  const email = 'ada@people.example';
  let folder: string;
  let machine: TestMachine;
  let portal: Portal;
  let page: Page;
  /** Runs a command as the install, by the command line from the portal. */
  let ssh: (command: string) => Promise<{ stdout: string }>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'homeport-portal-'));
    // The browser resolves names below the site domain to this machine too.
    machine = await createPreparedMachine({ HOMEPORT_SITE_DOMAIN: 'localhost' });
    await Promise.all([machine.start(), buildPortal(join(folder, 'portal'))]);
    portal = await startPortal({ environment: machine.environment, portalFolder: join(folder, 'portal') });
    page = await portal.browser();
    page.setDefaultTimeout(30_000);
  });
  afterAll(async () => {
    await portal?.remove();
    await machine?.remove();
    await rm(folder, { recursive: true, force: true });
  });

  const follow = (link: string) => page.getByRole('link', { name: link, exact: true }).click();
  const press = (button: string) => page.getByRole('button', { name: button, exact: true }).click();
  const done = (operation: string) =>
    page.getByRole('listitem').filter({ hasText: operation }).getByText('Done').waitFor();

  function look(path: string): Promise<Visit> {
    const { edgeHttp, edgeHttps, sshListen } = machine.config;
    return visit({ hosting: { edgeHttp, edgeHttps, ssh: sshListen } }, `http://${name}.localhost${path}`);
  }

  async function linkInMail(): Promise<string> {
    await portal.homeport.idle();
    const [link = ''] =
      mailsTo(portal.homeport, email)
        .at(-1)
        ?.text.match(/https:\/\/\S+/) ?? [];
    return new URL(link).pathname;
  }

  it('admits an invited user', async () => {
    const { owner, accountId } = await portal.homeport.ownedAccount();
    await owner.client.post(`/accounts/${accountId}/account_users`, {
      user: { account_id: accountId, first_name: 'Ada', last_name: 'Byron', email, roles: 'full' },
    });
    await page.goto(await linkInMail());
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByLabel('Confirm password').fill(PASSWORD);
    await press('Accept invitation');
    await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Sites', exact: true }).click();
    await page.getByText('You have no sites yet').waitFor();
  });

  it('creates a site with a working WordPress', async () => {
    await follow('Create site');
    await page.getByLabel('Name').fill('Shop');
    await press('Continue');
    await page.getByRole('heading', { name: 'Where does Shop run first?' }).waitFor();
    await page.getByLabel('Name').fill(name);
    await press('Create site');
    await press('Skip this step');
    await page.getByText(`${name} is online at`).waitFor({ timeout: 60_000 });
    await follow(`Go to ${name}`);
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await done('Creating the website');
    const missing: string[] = [];
    page.context().on('response', (response) => {
      if (response.status() >= 400) missing.push(`${response.status()} ${response.url()}`);
    });
    const opened = page.context().waitForEvent('page');
    await page.getByRole('link', { name: /^Open website/ }).click();
    const website = await opened;
    await website.waitForLoadState();
    expect(new URL(website.url()).hostname).toBe(`${name}.localhost`);
    expect(await website.content()).toContain('/wp-includes/');
    expect(missing).toEqual([]);
    await website.close();
  });

  it('purges the page cache', async () => {
    await look('/');
    expect((await look('/')).headers['x-cache']).toBe('HIT');
    await follow('Caches');
    await press('Purge page cache');
    await done('Purging the page cache');
    expect((await look('/')).headers['x-cache']).toBe('MISS');
  });

  it('shows a command that opens a shell with an added key on a known host', async () => {
    const key = join(folder, 'key');
    await run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'ada@laptop', '-f', key]);
    await follow('Access');
    await follow('Add an SSH key');
    await page.getByLabel('Public key').fill(await readFile(`${key}.pub`, 'utf8'));
    await press('Add key');
    await page.getByRole('table', { name: 'Your SSH keys' }).getByText('ada@laptop').waitFor();
    await page.goBack();
    const copied = async (what: string): Promise<string> => {
      await press(`Copy ${what}`);
      return page.evaluate('navigator.clipboard.readText()');
    };
    const known = join(folder, 'known_hosts');
    await writeFile(known, `${await copied('the ED25519 line for known_hosts')}\n`);
    const [program = '', ...words] = (await copied('the SSH command')).split(' ');
    const careful = ['StrictHostKeyChecking=yes', `UserKnownHostsFile=${known}`, 'IdentitiesOnly=yes'];
    ssh = (command) =>
      run(program, [
        ...['-F', 'none', '-i', key, ...careful.flatMap((option) => ['-o', option])],
        ...[...words, command],
      ]);
    expect((await ssh('id -un; echo kept > htdocs/kept.txt')).stdout).toBe(`${name}\n`);
    expect((await look('/kept.txt')).body).toBe('kept\n');
  });

  it('makes and restores a backup', async () => {
    await follow('Backups');
    await press('Create backup');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Description').fill('before the update');
    await dialog.getByRole('button', { name: 'Create backup' }).click();
    const backup = page.getByRole('listitem').filter({ hasText: 'before the update' });
    await backup.getByText('Completed').waitFor();
    await ssh('rm htdocs/kept.txt');
    expect((await look('/kept.txt')).status).toBe(404);
    await press('Restore before the update');
    await dialog.getByRole('button', { name: 'Continue' }).click();
    const confirm = page.getByRole('alertdialog');
    await confirm.getByLabel(/^Type/).fill(name);
    await confirm.getByRole('button', { name: `Restore ${name}` }).click();
    await done('Restoring a backup');
    expect((await look('/kept.txt')).body).toBe('kept\n');
    expect((await look('/')).body).toContain('/wp-content/');
  });
});
