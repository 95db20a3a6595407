import type { Page } from 'playwright-core';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { Person } from '../homeport.ts';
import { mailsTo } from '../mails.ts';
import { startWebhookReceiver, type WebhookReceiver } from '../servers/webhook-receiver.ts';
import { expectRoomWhenNarrow } from './narrow.ts';
import { focused, type Portal, startPortal } from './portal.ts';
import { expectBothThemesInLong } from './themes.ts';

let portal: Portal;
let receiver: WebhookReceiver;
let owner: Person;
let accountId: string;
let page: Page;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  portal = await startPortal({
    environment: { HOMEPORT_ALLOW_PRIVATE_TARGETS: '127.0.0.1/32', HOMEPORT_WEBHOOK_HTTP: 'true' },
  });
  ({ accountId, owner } = await portal.homeport.ownedAccount());
  page = await portal.signedIn(owner);
});
afterAll(async () => {
  await portal?.remove();
  await receiver?.close();
});

const button = (name: string) => page.getByRole('button', { name, exact: true });
const deliveries = () => page.getByRole('region', { name: 'Deliveries of this webhook' }).getByRole('row');
const until = (check: () => unknown) => vi.waitFor(check, { timeout: 20_000, interval: 50 });
const confirm = (name: string) =>
  page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click();

/** Copies the shown secret, and says that it is saved. */
async function keepSecret(): Promise<string> {
  await page.getByText('The secret is not shown again.').waitFor();
  expect(await focused(page)).toContain('not shown again');
  await page.getByRole('button', { name: 'Copy the secret' }).click();
  const secret = String(await page.evaluate('navigator.clipboard.readText()'));
  await button('I have saved the secret').click();
  await page.getByText(secret).waitFor({ state: 'detached' });
  return secret;
}

/** Verifies the latest message with a secret. */
function expectSigned(secret: string): void {
  const { headers, body } = receiver.received.at(-1) ?? { headers: {}, body: '' };
  const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  expect(() => new Webhook(secret).verify(body, texts)).not.toThrow();
}

it('creates a webhook, shows its secret once, and delivers a test', async () => {
  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await page.getByText('No webhooks yet.').waitFor();
  await button('Create webhook').click();
  await page.getByLabel('URL').fill('ftp://hooks.example.com/');
  await button('Create webhook').click();
  await page.getByText('The URL must begin with https://').waitFor();
  await page.getByLabel('URL').fill(receiver.url);
  await page.getByLabel('Description').fill('Deployments');
  await page.getByLabel('Some types of events').check();
  await button('Create webhook').click();
  await page.getByText('Select at least one type of event.').waitFor();
  await page.getByLabel('site.created').check();
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
  await button('Create webhook').click();
  await expectBothThemesInLong(page);
  const secret = await keepSecret();
  await page.getByRole('row', { name: 'Deployments' }).getByText('1 type').waitFor();
  await expectBothThemesInLong(page);

  await page.getByRole('link', { name: 'Deployments' }).click();
  await page.getByText('No deliveries yet.').waitFor();
  await button('Send test').click();
  await deliveries().filter({ hasText: 'webhook.test' }).getByText('HTTP 204').waitFor();
  expectSigned(secret);
});

it('lists the delivery of a change, and delivers it again', async () => {
  receiver.answer = () => 500;
  await owner.client.post('/sites', { name: 'Shop', account_id: accountId });
  const created = deliveries().filter({ hasText: 'site.created' });
  await created.getByText('Retrying').waitFor();
  await created.getByText('The receiver answered 500.').waitFor();
  await created.getByText('Show answer').click();
  await created.getByText('status 500').waitFor();
  await expectBothThemesInLong(page);
  await expectRoomWhenNarrow(page);
  receiver.answer = () => 204;
  await created.getByText('Delivered').waitFor();
  await created.getByRole('button', { name: 'Redeliver site.created' }).click();
  await expect.poll(() => created.count(), { timeout: 20_000 }).toBe(2);
  await until(() => expect(receiver.received.at(-1)?.event.data).toMatchObject({ name: 'Shop' }));
  await page.getByLabel('Status', { exact: true }).selectOption('Failed');
  await page.getByText('No deliveries have this status.').waitFor();
  await page.getByLabel('Status', { exact: true }).selectOption('All');
});

it('edits a webhook, rotates its secret and switches it off and on', async () => {
  await button('Edit').click();
  await page.getByLabel('Description').fill('Chat');
  await page.getByLabel('All events').check();
  await button('Save webhook').click();
  await page.getByRole('heading', { name: 'Chat' }).waitFor();
  await button('Rotate secret').click();
  await confirm('Rotate secret');
  const secret = await keepSecret();
  await page.getByText('Also signs events until').waitFor();
  await button('Switch off').click();
  await confirm('Switch off');
  await button('Switch on').click();
  const before = receiver.received.length;
  await button('Send test').click();
  await until(() => expect(receiver.received.length).toBeGreaterThan(before));
  expectSigned(secret);
});

it('emails a link to the webhook that Homeport switched off, which is deleted there', async () => {
  receiver.answer = () => 410;
  await owner.client.post('/sites', { name: 'Blog', account_id: accountId });
  // The open page shows it without a reload.
  await page.getByText('Homeport switched this webhook off.').waitFor();
  await portal.homeport.idle();
  const mail = mailsTo(portal.homeport, owner.email).find(({ text }) => text.includes('switched off'));
  const link = /^ {2}(http\S+)$/m.exec(mail?.text ?? '')?.[1] ?? '';
  await page.goto('/me/profile');
  await page.goto(link);
  await page.getByText('Homeport switched this webhook off.').waitFor();
  await expectBothThemesInLong(page);
  await button('Delete').click();
  await confirm('Delete webhook');
  await page.getByText('No webhooks yet.').waitFor();
});
