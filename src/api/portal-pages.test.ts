import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAgent } from '../../test/client.ts';
import { temporaryFolder } from '../../test/database.ts';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';

const SCRIPT = 'console.log("portal");\n'.repeat(100);

describe('the pages of the portal', () => {
  const folder = temporaryFolder();
  let homeport: TestHomeport;
  let agent: ReturnType<typeof createAgent>;

  const get = async (path: string, headers: Record<string, string> = {}) => {
    const answer = await request(`${homeport.origin}${path}`, { dispatcher: agent, headers });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: Buffer.from(await answer.body.arrayBuffer()),
    };
  };

  beforeAll(async () => {
    mkdirSync(join(folder.path, 'portal/assets'), { recursive: true });
    writeFileSync(
      join(folder.path, 'index.html'),
      '<!doctype html><head><base href="/"><title>Homeport</title></head>' +
        '<!--signed-in-->sidebar<!--/signed-in--><!--signed-out-->card<!--/signed-out-->',
    );
    writeFileSync(
      join(folder.path, 'first-page.json'),
      JSON.stringify({
        signed_out: ['portal/assets/sign-in.js'],
        pages: [
          { path: '^/accounts/[^/]+/sites$', files: ['portal/assets/sites.js', 'portal/assets/sites.css'] },
        ],
      }),
    );
    writeFileSync(join(folder.path, 'portal/assets/index-abc.js'), SCRIPT);
    writeFileSync(join(folder.path, 'portal/assets/index-abc.js.gz'), gzipSync(SCRIPT));
    writeFileSync(join(folder.path, 'built-from'), 'a hash');
    homeport = await startTestHomeport({
      portalFolder: folder.path,
      roles: { api: true, hosting: false },
      environment: { HOMEPORT_PUBLIC_URL: 'https://panel.example.com/hosting' },
    });
    agent = createAgent(homeport.ca);
  });
  afterAll(async () => {
    await agent.close();
    await homeport.remove();
    folder.remove();
  });

  it.each([
    '/',
    '/sign-in',
    '/forgotten-password',
    '/password/some-token',
    '/invitations/some-token',
    '/accounts/a/sites',
    '/sites/b',
    '/installs/c/domains',
    '/me/security',
  ])(
    '%s serves the document, below the public URL, with a policy that allows no other servers',
    async (path) => {
      const { status, headers, body } = await get(path);
      expect(status).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(body.toString()).toContain('<base href="/hosting/">');
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
      expect(headers['content-security-policy']).not.toContain('unsafe');
      expect(headers).toMatchObject({
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-cache',
      });
      expect(headers['access-control-allow-origin']).toBeUndefined();
    },
  );

  it('has the frame and the files of the requested page, by whether the browser has a session', async () => {
    const cookie = '__Host-homeport-session=anything';
    const signedIn = await get('/accounts/a/sites?page=2', { cookie });
    expect(signedIn.headers.vary).toContain('cookie');
    const page = signedIn.body.toString();
    expect(page).toContain('sidebar');
    expect(page).not.toContain('card');
    expect(page).toContain('<link rel="modulepreload" crossorigin href="./portal/assets/sites.js">');
    expect(page).toContain('<link rel="preload" as="style" crossorigin href="./portal/assets/sites.css">');
    const other = (await get('/me/security', { cookie })).body.toString();
    expect(other).toContain('sidebar');
    expect(other).not.toContain('preload');
    for (const [path, headers] of [
      ['/accounts/a/sites', {}],
      ['/password/some-token', { cookie }],
    ] as const) {
      const document = (await get(path, headers)).body.toString();
      expect(document).toContain('card');
      expect(document).not.toContain('sidebar');
      expect(document).toContain('<link rel="modulepreload" crossorigin href="./portal/assets/sign-in.js">');
    }
  });

  it('assets are cached forever, and compressed if the browser supports it', async () => {
    const plain = await get('/portal/assets/index-abc.js');
    expect(plain.body.toString()).toBe(SCRIPT);
    expect(plain.headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(plain.headers['content-type']).toMatch(/javascript/);
    const packed = await get('/portal/assets/index-abc.js', { 'accept-encoding': 'gzip' });
    expect(packed.headers['content-encoding']).toBe('gzip');
    expect(gunzipSync(packed.body).toString()).toBe(SCRIPT);
  });

  it.each([
    '/portal/assets/none.js',
    '/portal/assets/../index.html',
    '/portal/assets/%2e%2e/built-from',
    '/built-from',
    '/index.html',
    '/nothing',
  ])('%s does not exist', async (path) => {
    const { status, body } = await get(path);
    expect({ status, body: body.toString() }).toEqual({
      status: 404,
      body: '{"message":"Resource not found"}',
    });
  });

  it('an unknown path gets the portal’s page in a browser, and the API’s answer in a program', async () => {
    const reading = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    for (const path of ['/foo/bar', '/accounts', '/v1x']) {
      const { status, headers, body } = await get(path, reading);
      expect({ path, status }).toEqual({ path, status: 404 });
      expect(headers['content-security-policy']).toMatch(/^default-src 'none';/);
      expect(body.toString()).toContain('<base href="/hosting/">');
    }
    for (const path of ['/v1/none', '/portal/api/none', '/portal/assets/none.js', '/docs/none', '/v1?a']) {
      const { status, body } = await get(path, reading);
      expect({ path, status, body: body.toString() }).toEqual({
        path,
        status: 404,
        body: '{"message":"Resource not found"}',
      });
    }
    expect((await get('/foo/bar', { accept: '*/*' })).body.toString()).toBe(
      '{"message":"Resource not found"}',
    );
  });
});

it('says that the portal is being built, and what to do if that fails, while the API works', async () => {
  const failed = Promise.withResolvers<string>();
  const homeport = await startTestHomeport({
    portalFolder: failed.promise,
    roles: { api: true, hosting: false },
  });
  const agent = createAgent(homeport.ca);
  const page = async () => {
    const { statusCode, headers, body } = await request(`${homeport.origin}/`, { dispatcher: agent });
    return { status: statusCode, again: headers['retry-after'], text: await body.text() };
  };
  expect(await page()).toMatchObject({ status: 503, again: '2', text: expect.stringMatching('being built') });
  failed.reject(new Error('no space left'));
  await expect
    .poll(page)
    .toMatchObject({ status: 503, again: undefined, text: expect.stringMatching('npm run build') });
  expect((await homeport.anonymous.get('/status')).status).toBe(200);
  await agent.close();
  await homeport.remove();
});
