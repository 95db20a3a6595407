import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAgent } from '../../test/client.ts';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';

let homeport: TestHomeport;
let agent: ReturnType<typeof createAgent>;
beforeAll(async () => {
  homeport = await startTestHomeport({ roles: { api: true, hosting: false } });
  agent = createAgent(homeport.ca);
});
afterAll(async () => {
  await agent.close();
  await homeport.remove();
});

async function get(path: string) {
  const { statusCode, headers, body } = await request(`${homeport.origin}${path}`, { dispatcher: agent });
  return { status: statusCode, headers, text: await body.text() };
}

it('the page of the description is complete and loads nothing from other servers', async () => {
  const page = await get('/docs/');
  expect(page.status).toBe(200);
  expect(page.headers['content-type']).toMatch(/^text\/html/);
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toContain("default-src 'self'");
  expect(policy).not.toMatch(/https?:|\*/);
  const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
  expect(parts.length).toBeGreaterThan(3);
  for (const part of parts) {
    expect(part).toMatch(/^\.?\/?[\w./-]+$/);
    const { pathname } = new URL(part, `${homeport.origin}/docs/`);
    const file = await get(pathname);
    expect(file.status, pathname).toBe(200);
    expect(file.text.length, pathname).toBeGreaterThan(0);
  }
  expect(page.text).not.toMatch(/<script>(?!\s*<\/script>)/);
});

it('the page shows the description that /v1/swagger serves', async () => {
  const [shown, served] = [await get('/docs/json'), await get('/v1/swagger')];
  expect(JSON.parse(shown.text)).toEqual(JSON.parse(served.text));
});

it('the page does not expose the server’s files', async () => {
  for (const path of [
    '/docs/static/../../package.json',
    '/docs/static/%2e%2e/%2e%2e/package.json',
    '/package.json',
    '/data',
  ]) {
    expect((await get(path)).status, path).toBe(404);
  }
});
