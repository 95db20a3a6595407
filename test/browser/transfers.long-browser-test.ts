import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operatorFor } from '../../src/access/caller.ts';
import type { Person } from '../homeport.ts';
import { expectAccessibleInLong, type Portal, startPortal } from './portal.ts';

let portal: Portal;
let origin: { owner: Person; accountId: string };
let destination: { owner: Person; accountId: string };
let giver: Page;
let receiver: Page;

beforeAll(async () => {
  portal = await startPortal();
  origin = await portal.homeport.ownedAccount();
  destination = await portal.homeport.ownedAccount();
  const site = await portal.homeport.services.sites.create(operatorFor(origin.owner.userId), {
    name: 'Shop',
    account_id: origin.accountId,
  });
  await portal.homeport.install(origin.owner, origin.accountId, {
    site_id: site.id,
    environment: 'production',
  });
  giver = await portal.signedIn(origin.owner);
  receiver = await portal.signedIn(destination.owner);
});
afterAll(() => portal?.remove());

const offer = async () => {
  await giver.getByRole('link', { name: 'Sites', exact: true }).first().click();
  await giver.getByRole('link', { name: 'Shop', exact: true }).click();
  await giver.getByRole('button', { name: 'Transfer', exact: true }).click();
  await giver.getByRole('textbox', { name: 'Account ID' }).fill(destination.accountId);
  await expectAccessibleInLong(giver);
  await giver.getByRole('button', { name: 'Transfer site' }).click();
  await giver.getByText('This site is offered to another account.').waitFor();
};

it('a site is marked as a sandbox, which cannot be transferred', async () => {
  await giver.getByRole('link', { name: 'Sites', exact: true }).first().click();
  await giver.getByRole('link', { name: 'Shop', exact: true }).click();
  await giver.getByLabel('Sandbox').check();
  await giver.getByRole('button', { name: 'Save type' }).click();
  await giver.getByText('Saved the type of the site.').waitFor();
  await giver.getByRole('button', { name: 'Transfer', exact: true }).click();
  await giver.getByRole('textbox', { name: 'Account ID' }).fill(destination.accountId);
  await giver.getByRole('button', { name: 'Transfer site' }).click();
  await giver.getByText('Sandbox sites cannot be transferred.').waitFor();
  await giver.getByRole('button', { name: 'Cancel' }).click();
  await giver.getByLabel('Sandbox').uncheck();
  await giver.getByRole('button', { name: 'Save type' }).click();
  await expect
    .poll(async () => (await origin.owner.client.get('/sites')).body)
    .toMatchObject({ results: [{ sandbox: false, transferable: false }] });
});

it('a site is offered, declined, offered again, and accepted', async () => {
  await offer();
  // The page of the other account shows the offer without a reload.
  await receiver.getByText('Another account offers you a site.').waitFor();
  await receiver.getByRole('link', { name: 'Show site transfers' }).click();
  await receiver.getByRole('button', { name: 'Decline: Shop' }).click();
  await receiver.getByRole('alertdialog').getByRole('button', { name: 'Decline' }).click();
  await receiver.getByText('Cancelled', { exact: true }).waitFor();
  await giver.getByText('This site is offered to another account.').waitFor({ state: 'detached' });

  await offer();
  await receiver.getByRole('button', { name: 'Accept: Shop' }).click();
  await expectAccessibleInLong(receiver);
  await receiver.getByRole('alertdialog').getByRole('button', { name: 'Accept' }).click();
  await receiver.getByText('Completed', { exact: true }).waitFor();
  await expectAccessibleInLong(receiver);
  await receiver.getByRole('link', { name: 'Sites', exact: true }).first().click();
  await receiver.getByRole('link', { name: 'Shop', exact: true }).waitFor();
  // The former owner's page notices that the site is gone.
  await giver.getByRole('heading', { name: 'Site not found' }).waitFor();
});
