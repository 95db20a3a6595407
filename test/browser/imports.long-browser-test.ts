import { afterAll, beforeAll, expect, it } from 'vitest';
import { environment } from '../../src/features/hosts/fleet.fixture.ts';
import { RefusedImportError } from '../../src/hosting/contract/errors.ts';
import { type ServedMachine, serveMachine } from '../../src/hosting/remote/embedded-machine.fixture.ts';
import { text } from '../client.ts';
import type { Person } from '../homeport.ts';
import { onlyInLong } from '../rounds.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

let machine: ServedMachine;
let portal: Portal;
let owner: Person;
let shop: { id: string; name: string };

beforeAll(async () => {
  machine = await serveMachine();
  portal = await startPortal({ environment: environment(machine.runFolder) });
  const { homeport } = portal;
  const { accountId, owner: person } = await homeport.ownedAccount();
  owner = person;
  const site = await owner.client.post('/sites', { name: 'Shop', account_id: accountId });
  const made = await owner.client.post('/installs', {
    name: 'importshop',
    account_id: accountId,
    site_id: text(site.body, 'id'),
    environment: 'production',
  });
  shop = { id: text(made.body, 'id'), name: 'importshop' };
  await homeport.idle();
});
afterAll(async () => {
  await portal?.remove();
  await machine?.close();
});

it('an import names the archive, is confirmed by the name, and shows its step', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked: unknown;
  machine.machine.importWebsite = async (_install, source, _options, _signal, report) => {
    asked = source;
    report?.(12_000_000, null, 'unpack');
    await promise;
    return { tablePrefix: 'wp_', files: 1, bytes: 1, notes: ['Not imported: email.'] };
  };
  const page = await portal.signedIn(owner, { at: `/installs/${shop.id}/imports` });
  await page.getByLabel('Path of the archive').fill('private/shop.zip');
  await page.getByLabel('Website in the archive').fill('shop.example');
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
  await page.getByRole('button', { name: 'Continue' }).click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByText('This is a production install').waitFor();
  await dialog.getByRole('textbox').fill(shop.name);
  await dialog.getByRole('button', { name: `Replace ${shop.name}` }).click();
  await page
    .getByText(/Unpacking: 1[12]/)
    .first()
    .waitFor();
  resolve();
  const imported = page.getByRole('listitem').filter({ hasText: 'Importing a website' });
  await imported.getByText('Done').waitFor();
  await imported.getByText('Not imported: email.').waitFor();
  expect(asked).toEqual({ file: 'private/shop.zip', site: 'shop.example' });
});

onlyInLong(it)('an import by SSH shows the key of the install, and the host key to confirm', async () => {
  const fingerprint = `SHA256:${'a'.repeat(43)}`;
  machine.machine.importWebsite = () =>
    Promise.reject(new RefusedImportError(`The SSH server has the host key ${fingerprint}.`));
  const page = await portal.signedIn(owner, { at: `/installs/${shop.id}/imports` });
  await page.getByRole('radio', { name: 'On the old host, by SSH' }).check();
  await page.getByRole('button', { name: 'Show the public key' }).click();
  await page.getByText(/^ecdsa-sha2-nistp256 /).waitFor();
  await page.getByLabel('Old host', { exact: true }).fill('old.example');
  await page.getByLabel('User', { exact: true }).fill('ada');
  await page.getByLabel('Folder of the WordPress').fill('public_html');
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
  const shown = (await page.getByText(/^ecdsa-sha2-nistp256 /).textContent()) ?? '';
  const question = page.getByRole('alertdialog');
  await page.getByRole('button', { name: 'Renew the key' }).click();
  await question.getByRole('button', { name: 'Renew key' }).click();
  await page.getByText('The key was renewed. Replace it on the old host.').waitFor();
  await page
    .getByText(/^ecdsa-sha2-nistp256 /)
    .filter({ hasNotText: shown })
    .waitFor();
  await page.getByRole('button', { name: 'Delete the key' }).click();
  await question.getByRole('button', { name: 'Delete key' }).click();
  await page.getByRole('button', { name: 'Show the public key' }).click();
  await page.getByRole('button', { name: 'Delete the key' }).waitFor();
  await page.getByRole('button', { name: 'Continue' }).click();
  const dialog = page.getByRole('alertdialog');
  await dialog.getByRole('textbox').fill(shop.name);
  await dialog.getByRole('button', { name: `Replace ${shop.name}` }).click();
  await page.getByRole('listitem').filter({ hasText: fingerprint }).first().waitFor();
});

onlyInLong(it)('a staging copy is made in the site, and pushing it preselects nothing', async () => {
  const page = await portal.signedIn(owner, { at: `/installs/${shop.id}` });
  await page.getByRole('button', { name: 'Make a staging copy' }).click();
  await expect
    .poll(() => page.getByLabel('Name of the staging install').inputValue())
    .toBe('importshop-staging');
  await page.getByRole('button', { name: 'Make staging copy' }).click();
  await page.getByRole('link', { name: 'importshop-staging' }).first().click();
  await page.getByRole('button', { name: 'Push to production' }).click();
  const dialog = page.getByRole('dialog');
  await expect.poll(() => dialog.getByRole('radio', { checked: true }).count()).toBe(0);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByText('Choose what to push.').first().waitFor();
  await dialog.getByRole('radio', { name: 'Files only' }).check();
  await dialog.getByRole('button', { name: 'Continue' }).click();
  const confirmation = page.getByRole('alertdialog');
  await confirmation.getByText('This replaces the files of importshop').waitFor();
  await expect
    .poll(() => confirmation.getByRole('button', { name: 'Replace importshop' }).isDisabled())
    .toBe(true);
});
