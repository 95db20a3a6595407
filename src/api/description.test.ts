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

async function get(path: string, headers: Record<string, string> = {}) {
  const answer = await request(`${homeport.origin}${path}`, { dispatcher: agent, headers });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

it('the page of the description is complete and loads nothing from other servers', async () => {
  const page = await get('/docs/');
  expect(page.status).toBe(200);
  expect(page.headers['content-type']).toMatch(/^text\/html/);
  const policy = String(page.headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self';");
  expect(policy).not.toMatch(/https?:|\*/);
  const parts = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
  expect(parts.length).toBeGreaterThan(3);
  for (const part of parts) {
    expect(part).toMatch(/^\.\/[\w.-]+$/);
    const { pathname } = new URL(part, `${homeport.origin}/docs/`);
    const file = await get(pathname);
    expect(file.status, pathname).toBe(200);
    expect(file.text.length, pathname).toBeGreaterThan(0);
  }
  expect(page.text).not.toMatch(/<script>(?!\s*<\/script>)/);
});

it('the page leads to its own folder, and its files are compressed and cached', async () => {
  const moved = await get('/docs');
  expect(moved).toMatchObject({ status: 301, headers: { location: 'docs/' } });
  const name = '/docs/swagger-ui-bundle.js';
  const plain = await get(name);
  const compressed = await get(name, { 'accept-encoding': 'gzip' });
  expect(compressed.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect(Number(compressed.headers['content-length'])).toBeLessThan(plain.text.length / 3);
  const again = await get(name, { 'if-none-match': String(plain.headers.etag) });
  expect(again).toMatchObject({ status: 304, text: '' });
});

it('the page does not expose the server’s files', async () => {
  for (const path of [
    '/docs/../package.json',
    '/docs/%2e%2e/%2e%2e/package.json',
    '/docs/package.json',
    '/package.json',
    '/data',
  ]) {
    expect((await get(path)).status, path).toBe(404);
  }
});
