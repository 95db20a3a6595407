import { request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAgent, field, text } from '../../test/client.ts';
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

it('every time has the format date-time, so that clients generate a type for it', async () => {
  const { components } = JSON.parse((await get('/v1/swagger')).text);
  const isTimeName = (name: string) => /_(?:at|time|on|until)$/.test(name);
  const isTime = (value: unknown) => typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value);
  // Empty if the server showed no certificate.
  const textual = ['DomainCheckSsl.not_before', 'DomainCheckSsl.not_after'];
  const times: string[] = [];
  const others: string[] = [];
  for (const [component, { properties = {}, example = {} }] of Object.entries<{
    properties?: Record<string, { type?: string | string[]; format?: string }>;
    example?: object;
  }>(components.schemas)) {
    for (const [name, { type = [], format }] of Object.entries(properties)) {
      const path = `${component}.${name}`;
      if (textual.includes(path) || ![type].flat().includes('string')) continue;
      if (!isTimeName(name) && !isTime(Reflect.get(example, name))) continue;
      (format === 'date-time' ? times : others).push(path);
    }
  }
  expect(others).toEqual([]);
  expect(times.length).toBeGreaterThan(40);
});

it('every query parameter says what it expects if it is malformed', async () => {
  const { paths } = JSON.parse((await get('/v1/swagger')).text);
  const { client } = (await homeport.ownedAccount()).owner;
  const tried: string[] = [];
  for (const [template, { get: operation }] of Object.entries<{
    get?: { parameters?: { in: string; name: string }[]; responses: object };
  }>(paths)) {
    if (!operation || !('400' in operation.responses)) continue;
    const path = template.replace(/\{\w+\}/g, crypto.randomUUID());
    for (const { in: place, name } of operation.parameters ?? []) {
      if (place !== 'query') continue;
      const about = `${template}?${name}`;
      const { status, body } = await client.get(`${path}?${name}=%00`);
      expect(status, about).toBe(400);
      const messages = [text(body, 'message'), ...faultMessages(body)];
      expect(messages.at(-1), about).toMatch(new RegExp(`^${name} must be|^Invalid \\w+ ID format$`));
      tried.push(about);
    }
  }
  expect(tried.length).toBeGreaterThan(40);
});

const faultMessages = (body: unknown): string[] => {
  const faults = field(body, 'errors');
  return Array.isArray(faults) ? faults.map((fault) => text(fault, 'message')) : [];
};
