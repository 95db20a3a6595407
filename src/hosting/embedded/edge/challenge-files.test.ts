import { readdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { DAY_MS, HOUR_MS } from '../../../lib/durations.ts';
import { PermanentHostError } from '../../contract/errors.ts';
import type { Proof } from '../../contract/proofs.ts';
import { certificateFor, eventually, sendRaw, siteState } from '../../policy/edge.fixture.ts';
import { startHost, type TestHost } from '../embedded-host.fixture.ts';
import { createEmbeddedHost } from '../embedded-host.ts';

const ACME = '/.well-known/acme-challenge/';
const CHECK = '/.well-known/homeport-check/';

let site: TestHost;
let folder: string;
const alpha = siteState('alpha', [
  'alpha.test',
  '*.wild.test',
  { name: 'secure.test', forceHttps: true, certificate: await certificateFor('secure.test', { days: 90 }) },
  { name: 'old.test', redirectTo: 'alpha.test' },
]);
beforeAll(async () => {
  site = await startHost();
  folder = join(site.folder, 'proofs');
  await site.host.apply(alpha);
});
afterAll(() => site.close());

const proofAt = (hostname: string, path: string, text = 'a.proof'): Proof => ({ hostname, path, text });

describe('a published challenge', () => {
  test.each([
    'alpha.test',
    'secure.test',
    'old.test',
    'a.wild.test',
    'alpha.hosting.test',
    'not-applied.test',
  ])('is served for %s over HTTP and HTTPS, before any redirect, until it is withdrawn', async (hostname) => {
    for (const prefix of [ACME, CHECK]) {
      const proof = proofAt(hostname, `${prefix}Token_1-2`, `text for ${prefix}`);
      await site.host.publish(proof);
      for (const ask of [site.http, site.https]) {
        const answer = await ask(hostname, proof.path);
        expect(answer).toMatchObject({ status: 200, text: proof.text });
        expect(answer.headers['content-type']).toMatch(/^text\/plain\b/);
        expect(answer.headers['cache-control']).toBe('no-store');
        expect(await ask(hostname, proof.path, { method: 'HEAD' })).toMatchObject({
          status: 200,
          text: '',
          headers: { 'content-length': String(proof.text.length) },
        });
      }
      await site.host.withdraw(proof);
      expect((await site.http(hostname, proof.path)).text).not.toContain(proof.text);
      await site.host.withdraw(proof);
    }
  });

  test('is served for its name and path only', async () => {
    await site.host.publish(proofAt('alpha.test', `${CHECK}mine`));
    expect((await site.http('ALPHA.test.:80', `${CHECK}mine?a=b`)).text).toBe('a.proof');
    for (const [hostname, path] of [
      ['www.alpha.test', `${CHECK}mine`],
      ['a.wild.test', `${CHECK}mine`],
      ['127.0.0.1', `${CHECK}mine`],
      ['alpha.test', `${CHECK}Mine`],
      ['alpha.test', `${CHECK}min`],
      ['alpha.test', `${CHECK}mine/`],
      ['alpha.test', `${CHECK}%6Dine`],
      ['alpha.test', `${ACME}mine`],
    ] as const) {
      expect([path, (await site.http(hostname, path)).status]).toEqual([path, 404]);
    }
    await site.host.withdraw(proofAt('alpha.test', `${CHECK}mine`));
  });

  test('is replaced by a later challenge', async () => {
    await site.host.publish(proofAt('alpha.test', `${CHECK}twice`, 'first'));
    await site.host.publish(proofAt('alpha.test', `${CHECK}twice`, 'sécond'));
    expect((await site.http('alpha.test', `${CHECK}twice`)).text).toBe('sécond');
    await site.host.withdraw(proofAt('alpha.test', `${CHECK}twice`));
  });

  test('is readable by the owner only, and leaves no files after withdrawal', async () => {
    await site.host.publish(proofAt('alpha.test', `${CHECK}kept`));
    const [name = '', ...others] = await readdir(folder);
    expect(others).toEqual([]);
    expect(name).toMatch(/^[0-9a-f]{64}$/);
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
    await site.host.withdraw(proofAt('alpha.test', `${CHECK}kept`));
    expect(await readdir(folder)).toEqual([]);
  });

  test('of another process on the machine is served too', async () => {
    const worker = createEmbeddedHost({ ...site.options, listen: false });
    await worker.start();
    const proof = proofAt('elsewhere.test', `${ACME}worker`);
    await worker.publish(proof);
    expect((await site.http('elsewhere.test', proof.path)).text).toBe(proof.text);
    await worker.withdraw(proof);
    expect((await site.http('elsewhere.test', proof.path)).status).toBe(404);
    await worker.stop();
  });

  test('many concurrent challenges do not affect each other', async () => {
    const proofs = Array.from({ length: 50 }, (_, n) => proofAt(`n${n}.test`, `${CHECK}same`, `text ${n}`));
    await Promise.all(proofs.map((proof) => site.host.publish(proof)));
    const answers = await Promise.all(proofs.map(({ hostname, path }) => site.http(hostname, path)));
    expect(answers.map(({ text }) => text)).toEqual(proofs.map(({ text }) => text));
    await Promise.all(proofs.map((proof) => site.host.withdraw(proof)));
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('without a published challenge', () => {
  test('the ACME client of a customer can serve its challenge from a file, with the usual rules', async () => {
    await site.write(alpha, '.well-known/acme-challenge/own', 'from a file');
    expect((await site.http('alpha.test', `${ACME}own`)).text).toBe('from a file');
    expect((await site.http('secure.test', `${ACME}own`)).headers.location).toBe(
      `https://secure.test${ACME}own`,
    );
    await site.host.publish(proofAt('alpha.test', `${ACME}own`, 'published'));
    expect((await site.http('alpha.test', `${ACME}own`)).text).toBe('published');
    expect((await site.http('alpha.test', `${ACME}own`, { method: 'POST' })).status).toBe(405);
    await site.host.withdraw(proofAt('alpha.test', `${ACME}own`));
    expect((await site.http('alpha.test', `${ACME}own`)).text).toBe('from a file');
  });

  test('customer files are never served under the check prefix', async () => {
    await site.write(alpha, '.well-known/homeport-check/own', 'from a file');
    expect((await site.http('alpha.test', `${CHECK}own`)).status).toBe(404);
    expect((await site.http('secure.test', `${CHECK}own`)).status).toBe(404);
    expect((await site.http('alpha.test', `${CHECK}own`, { method: 'POST' })).status).toBe(404);
  });

  test.each([
    `${CHECK}../../../edge-certificate.pem`,
    `${CHECK}..%2f..%2fedge-certificate.pem`,
    `${ACME}../../../../edge-certificate.pem`,
    `${ACME}%2e%2e/%2e%2e/edge-certificate.pem`,
    `${CHECK}`,
    `${CHECK}${'x'.repeat(129)}`,
    `${CHECK}a%00b`,
  ])('%s leads nowhere', async (path) => {
    for (const hostname of ['alpha.test', '..', '../proofs', 'unknown.test']) {
      const answer = await sendRaw(
        site.host.addresses?.edgeHttp.port ?? 0,
        `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 (400|404) /);
      expect(answer).not.toContain('BEGIN');
    }
  });
});

test.each([
  ['a wildcard', proofAt('*.wild.test', `${CHECK}a`)],
  ['upper case', proofAt('Alpha.test', `${CHECK}a`)],
  ['a trailing dot', proofAt('alpha.test.', `${CHECK}a`)],
  ['no name', proofAt('', `${CHECK}a`)],
  ['a name with a path', proofAt('a/../b', `${CHECK}a`)],
  ['a name that is too long', proofAt(`${'a.'.repeat(127)}`.concat('aaa'), `${CHECK}a`)],
  ['another path', proofAt('alpha.test', '/index.html')],
  ['the marker of the edge', proofAt('alpha.test', '/.well-known/homeport/a')],
  ['no token', proofAt('alpha.test', CHECK)],
  ['dots', proofAt('alpha.test', `${CHECK}..`)],
  ['a longer path', proofAt('alpha.test', `${CHECK}a/b`)],
  ['a line break at the end', proofAt('alpha.test', `${CHECK}a\n`)],
  ['a token that is too long', proofAt('alpha.test', `${CHECK}${'a'.repeat(129)}`)],
  ['no text', proofAt('alpha.test', `${CHECK}a`, '')],
  ['a text that is too long', proofAt('alpha.test', `${CHECK}a`, 'é'.repeat(513))],
  ['half a character', proofAt('alpha.test', `${CHECK}a`, '\ud800')],
])('%s cannot be published', async (_what, proof) => {
  await expect(site.host.publish(proof)).rejects.toThrow(PermanentHostError);
  expect(await readdir(folder)).toEqual([]);
});

test('the longest possible challenge is served', async () => {
  const hostname = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
  const proof = proofAt(hostname, `${CHECK}${'t'.repeat(128)}`, 'é'.repeat(512));
  await site.host.publish(proof);
  expect((await site.http(hostname, proof.path)).text).toBe(proof.text);
  await site.host.withdraw(proof);
});

describe('after a day', () => {
  test('an expired challenge is not served, and the next start removes its file', async () => {
    const own = await startHost();
    const ownFolder = join(own.folder, 'proofs');
    const [first, second] = [proofAt('a.test', `${CHECK}a`), proofAt('b.test', `${CHECK}b`)];
    await own.host.publish(first);
    own.clock.advance(HOUR_MS);
    await own.host.publish(second);
    own.clock.advance(23 * HOUR_MS - 1);
    expect((await own.http('a.test', first.path)).status).toBe(200);
    own.clock.advance(1);
    expect((await own.http('a.test', first.path)).status).toBe(404);
    expect((await own.http('b.test', second.path)).status).toBe(200);
    expect(await readdir(ownFolder)).toHaveLength(2);

    await writeFile(join(ownFolder, 'f'.repeat(64)), 'spoilt');
    await writeFile(join(ownFolder, '.abandoned.tmp'), 'half');
    await utimes(join(ownFolder, '.abandoned.tmp'), new Date(0), new Date(0));
    await own.host.stop();
    await own.host.start();
    const left = await readdir(ownFolder);
    expect(left).toHaveLength(1);
    expect(await readFile(join(ownFolder, left[0] ?? ''), 'utf8')).toContain(second.text);
    expect(own.log).toMatchObject([{ level: 40, file: join(ownFolder, 'f'.repeat(64)) }]);
    await own.close();
  });

  test('a running host removes the file within an hour', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const own = await startHost();
    try {
      await own.host.publish(proofAt('a.test', `${CHECK}a`));
      own.clock.advance(DAY_MS);
      vi.advanceTimersByTime(HOUR_MS);
      await eventually(async () => (await readdir(join(own.folder, 'proofs'))).length === 0);
    } finally {
      vi.useRealTimers();
      await own.close();
    }
  });
});
