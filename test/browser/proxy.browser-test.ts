import { request } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSelfSigned } from '../../src/lib/certificates/self-signed-certificate.ts';
import { freePort } from '../servers/free-port.ts';
import { PASSWORD, type Portal, startPortal } from './portal.ts';

let portal: Portal;
let proxy: ReturnType<typeof createSecureServer>;
let publicUrl: string;

/** A proxy terminates TLS and serves the portal below a path. */
beforeAll(async () => {
  const port = await freePort();
  publicUrl = `https://localhost:${port}/hosting`;
  portal = await startPortal({
    environment: { HOMEPORT_PUBLIC_URL: publicUrl, HOMEPORT_TRUST_PROXY: '127.0.0.1' },
  });
  const { chain, key } = await createSelfSigned({ names: ['localhost'], notBefore: new Date(), days: 1 });
  proxy = createSecureServer({ cert: chain, key }, (incoming, outgoing) => {
    if (!incoming.url?.startsWith('/hosting')) {
      outgoing.writeHead(404).end();
      return;
    }
    const { pathname, search } = new URL(incoming.url, publicUrl);
    const onward = request(
      {
        host: '127.0.0.1',
        port: portal.homeport.api?.port,
        method: incoming.method,
        path: `${pathname.slice('/hosting'.length) || '/'}${search}`,
        headers: { ...incoming.headers, 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.9' },
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    outgoing.on('close', () => onward.destroy());
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
});
afterAll(async () => {
  await portal.remove();
  proxy.closeAllConnections();
  await new Promise((resolve) => proxy.close(resolve));
});

it('works behind a proxy below a path', async () => {
  const { homeport } = portal;
  const { owner, accountId } = await homeport.ownedAccount();
  await homeport.setPassword(owner, PASSWORD);
  const page = await portal.browser();
  const lost: string[] = [];
  page.on('response', (response) => {
    if (response.status() >= 400 && response.status() !== 401) lost.push(response.url());
  });
  await page.goto(`${publicUrl}/`);
  await page.getByLabel('Email address').fill(owner.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.waitForURL(`${publicUrl}/accounts/${accountId}/home`);
  await page.getByRole('link', { name: 'People' }).click();
  await page.waitForURL(`${publicUrl}/accounts/${accountId}/people`);
  await page.reload();
  await page.getByRole('heading', { name: 'People', level: 1 }).waitFor();
  // Live changes pass the proxy, too.
  await page.goto(`${publicUrl}/accounts/${accountId}/sites`);
  await page.getByRole('heading', { name: 'Sites', level: 1 }).waitFor();
  await owner.client.post('/sites', { name: 'Made elsewhere', account_id: accountId });
  await page.getByRole('link', { name: 'Made elsewhere' }).waitFor();
  expect(lost).toEqual([]);
  const sessions = await homeport.platform.database.reader.selectFrom('sessions').select('address').execute();
  expect(sessions).toEqual([{ address: '203.0.113.9' }]);
});
