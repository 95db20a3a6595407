import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Portal, startPortal } from './portal.ts';

let portal: Portal;
beforeAll(async () => {
  portal = await startPortal({ roles: { api: true, hosting: false } });
});
afterAll(() => portal.remove());

it('the page of the API sends requests to the address where it was opened', async () => {
  const { homeport } = portal;
  const { owner } = await homeport.ownedAccount();
  const { port } = new URL(homeport.origin);
  const opened = `https://elsewhere.localhost:${port}`;
  expect(homeport.origin).not.toBe(opened);

  const page = await portal.browser();
  const problems: string[] = [];
  const origins = new Set<string>();
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol !== 'data:') origins.add(origin);
  });
  await page.goto(`${opened}/docs`);
  await page.getByRole('button', { name: 'Authorize' }).click();
  await page.getByLabel('auth-basic-username').fill(owner.credential.username);
  await page.getByLabel('auth-basic-password').fill(owner.credential.password);
  await page.getByRole('button', { name: 'Apply credentials' }).click();
  await page.getByRole('button', { name: 'Close' }).click();

  const operation = page.locator('#operations-User-getCurrentUser');
  await operation.getByRole('button', { name: '/user' }).first().click();
  for (const [language, sign] of [
    ['curl', 'curl --request GET'],
    ['JavaScript', 'await fetch('],
    ['Python', 'urllib.request'],
    ['PHP', 'curl_init('],
  ] as const) {
    await operation.getByRole('tab', { name: language }).click();
    const example = await operation.getByRole('tabpanel', { name: 'Request example' }).textContent();
    expect(example).toContain(sign);
    expect(example).toContain(`${opened}/v1/user`);
  }
  await operation.getByRole('button', { name: 'Execute' }).click();
  const answer = operation.locator('.live-responses-table');
  await answer.getByText(owner.email).waitFor();
  await expect
    .poll(() => answer.locator('tbody .response-col_status').first().textContent())
    .toContain('200');
  expect([...origins]).toEqual([opened]);
  expect(problems).toEqual([]);
});
