import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto';
import { createServer } from 'node:http';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AcmeServer, hasPebble, startAcmeServer } from '../../../test/servers/acme-server.ts';
import { systemClock } from '../../lib/clock.ts';
import { createAuthority } from './acme-authority.ts';
import type { Authority } from './authority.ts';
import { AcmeRefusal } from './refusal.ts';
import { listen } from './scripted-authority.fixture.ts';

const log = pino({ level: 'silent' });
const { signal } = new AbortController();
const PREFIX = '/.well-known/acme-challenge/';

/** Published challenges by path, and the requests that the web server got. */
const challenges = new Map<string, string>();
const hits: string[] = [];
let proven = 0;
const web = createServer((request, response) => {
  const path = request.url ?? '';
  hits.push(`${request.headers.host} ${path}`);
  const challenge = challenges.get(path);
  response.writeHead(challenge === undefined ? 404 : 200).end(challenge);
});

async function publishChallenge(token: string, keyAuthorization: string): Promise<() => Promise<void>> {
  proven++;
  challenges.set(PREFIX + token, keyAuthorization);
  return async () => {
    challenges.delete(PREFIX + token);
  };
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function authorityOf(
  server: AcmeServer,
  options: { ca?: string | null; termsAgreed?: boolean } = {},
): Authority {
  const { directoryUrl, ca } = server;
  return createAuthority(
    { directoryUrl, ca, contact: 'operator@example.com', termsAgreed: true, ...options },
    { clock: systemClock, log },
  );
}

async function refusalFrom(work: Promise<unknown>): Promise<AcmeRefusal> {
  const error = await work.then(
    () => new Error('nothing was refused'),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof AcmeRefusal)) throw error;
  return error;
}

const acme = (type: string) => `urn:ietf:params:acme:error:${type}`;

describe.skipIf(!hasPebble())('an authority', () => {
  let server: AcmeServer;
  let other: AcmeServer;
  let authority: Authority;
  let account: { key: string; url: string };

  beforeAll(async () => {
    const httpPort = await listen(web);
    [server, other] = await Promise.all([
      startAcmeServer({ dnsServer: null, httpPort, blocklist: ['blocked.example'], nonceRejectPercent: 20 }),
      startAcmeServer({ dnsServer: null, httpPort, reusePercent: 100 }),
    ]);
    authority = authorityOf(server);
    const key = newKey();
    account = { key, url: await authority.register({ key, url: null }, signal) };
  });
  afterAll(async () => {
    await Promise.all([server?.remove(), other?.remove()]);
    web.close();
  });
  beforeEach(() => {
    hits.length = 0;
    proven = 0;
  });
  afterEach(async () => {
    // Every challenge is withdrawn, however the test ended.
    expect([...challenges.keys()]).toEqual([]);
    await server.setDefaultAddress('127.0.0.1');
  });

  test('describes itself', async () => {
    expect(await authority.about(signal)).toEqual({
      identities: ['localhost'],
      termsOfService: expect.stringMatching(/^data:/),
      offersRenewalInfo: false,
    });
    expect(await authority.renewalWindow('', signal)).toBeNull();
  });

  test('issues a certificate for one name with a new key', async () => {
    const name = 'www.example.com';
    const issued = await authority.obtain({ name, account, publishChallenge, signal });

    const [leaf, intermediate] = issued.chain
      .split(/(?<=-----END CERTIFICATE-----\n)/)
      .map((pem) => new X509Certificate(pem));
    const root = new X509Certificate(await server.root());
    expect(leaf?.subjectAltName).toBe(`DNS:${name}`);
    expect(leaf?.checkPrivateKey(createPrivateKey(issued.key))).toBe(true);
    expect(leaf?.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect(intermediate && leaf?.verify(intermediate.publicKey)).toBe(true);
    expect(intermediate?.verify(root.publicKey)).toBe(true);
    expect(issued.key).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(issued.notBefore).toEqual(new Date(leaf?.validFrom ?? ''));
    expect(issued.notAfter).toEqual(new Date(leaf?.validTo ?? ''));
    expect(issued.orderUrl).toMatch(/^https:\/\/localhost:\d+\/my-order\//);
    expect(issued.renewalId).toMatch(/^[\w-]+\.[\w-]+$/);
    expect(proven).toBe(1);
    // Pebble validates several times, as if from several places.
    expect(new Set(hits).size).toBe(1);
    expect(hits[0]).toMatch(/^www\.example\.com(:\d+)? \/\.well-known\/acme-challenge\//);
  });

  test('issues for a name too long to be a common name', async () => {
    const name = `${'a'.repeat(60)}.${'b'.repeat(60)}.example.com`;
    const issued = await authority.obtain({ name, account, publishChallenge, signal });
    expect(new X509Certificate(issued.chain).subjectAltName).toBe(`DNS:${name}`);
  });

  test('two authorities at once are each trusted by their own certificate', async () => {
    const key = newKey();
    const second = authorityOf(other);
    const [url] = await Promise.all([
      second.register({ key, url: null }, signal),
      authority.register(account, signal),
      second.about(signal),
      authority.about(signal),
    ]);
    const [one, two] = await Promise.all([
      authority.obtain({ name: 'one.example.com', account, publishChallenge, signal }),
      second.obtain({ name: 'two.example.com', account: { key, url }, publishChallenge, signal }),
    ]);
    expect(new X509Certificate(one.chain).issuer).not.toBe(new X509Certificate(two.chain).issuer);

    const crossed = createAuthority(
      { directoryUrl: other.directoryUrl, ca: server.ca, contact: null, termsAgreed: true },
      { clock: systemClock, log },
    );
    expect(await refusalFrom(crossed.about(signal))).toMatchObject({ type: 'unreachable' });
  });

  test('does not validate a name again that was validated before', async () => {
    const key = newKey();
    const reusing = authorityOf(other);
    const url = await reusing.register({ key, url: null }, signal);
    const order = { name: 'again.example.com', account: { key, url }, publishChallenge, signal };
    const first = await reusing.obtain(order);
    const second = await reusing.obtain(order);
    expect(proven).toBe(1);
    expect(new Set(hits).size).toBe(1);
    expect(second.orderUrl).not.toBe(first.orderUrl);
    expect(second.key).not.toBe(first.key);
  });

  test('the same key finds the same account; another key gets another account', async () => {
    expect(await authority.register({ key: account.key, url: null }, signal)).toBe(account.url);
    expect(await authorityOf(server).register(account, signal)).toBe(account.url);
    expect(await authority.register({ key: newKey(), url: null }, signal)).not.toBe(account.url);
  });

  describe('refuses', () => {
    const obtain = (name: string, placing = publishChallenge) =>
      refusalFrom(authority.obtain({ name, account, publishChallenge: placing, signal }));

    test('a wrong answer', async () => {
      const refusal = await obtain('wrong.example.com', (token) => publishChallenge(token, 'something else'));
      expect(refusal).toMatchObject({ type: acme('unauthorized'), validationSpent: true, permanent: false });
      expect(refusal.message).toMatch(/wrong validation response from wrong\.example\.com/);
      expect(refusal.message).not.toContain(account.key);
    });

    test('a name where nothing listens', async () => {
      await server.setDefaultAddress('127.0.0.2');
      const refusal = await obtain('silent.example.com');
      expect(refusal).toMatchObject({ type: acme('connection'), validationSpent: true, permanent: false });
      expect(refusal.message).toMatch(/could not connect to silent\.example\.com.*port 80/);
    });

    test('a name without an address', async () => {
      await server.setDefaultAddress('');
      const refusal = await obtain('nowhere.example.com');
      expect(refusal.validationSpent).toBe(true);
      // Pebble reports this as a connection problem.
      expect([acme('dns'), acme('connection')]).toContain(refusal.type);
    });

    test('a name on its blocklist, without a validation', async () => {
      const refusal = await obtain('shop.blocked.example');
      expect(refusal).toMatchObject({
        type: acme('rejectedIdentifier'),
        validationSpent: false,
        permanent: true,
      });
      expect(refusal.message).toMatch(/does not issue for shop\.blocked\.example/);
      expect(proven).toBe(0);
    });

    test('an account before its terms are agreed to', async () => {
      const made = () => server.log().match(/There are now \d+ accounts/g)?.length ?? 0;
      const before = made();
      const key = newKey();
      const declining = authorityOf(server, { termsAgreed: false });
      const refusal = await refusalFrom(declining.register({ key, url: null }, signal));
      expect(refusal).toMatchObject({ type: acme('userActionRequired'), permanent: true });
      expect(refusal.message).toMatch(/until the operator has agreed .* terms/);
      expect(before).toBeGreaterThan(0);
      expect(made()).toBe(before);
    });
  });

  test('refuses a directory whose certificate has an unknown issuer', async () => {
    const refusal = await refusalFrom(authorityOf(server, { ca: null }).about(signal));
    expect(refusal).toMatchObject({ type: 'unreachable', permanent: false, validationSpent: false });
    expect(refusal.message).toMatch(
      /at localhost:\d+ cannot be used now: its TLS certificate is from an unknown issuer/,
    );
  });

  test('rethrows an error of publishing the challenge', async () => {
    const fault = new Error('the disk is full');
    const obtained = authority.obtain({
      name: 'disk.example.com',
      account,
      publishChallenge: () => Promise.reject(fault),
      signal,
    });
    await expect(obtained).rejects.toBe(fault);
  });

  test('keeps the certificate if the challenge cannot be withdrawn', async () => {
    const issued = await authority.obtain({
      name: 'kept.example.com',
      account,
      publishChallenge: async (token, keyAuthorization) => {
        const withdraw = await publishChallenge(token, keyAuthorization);
        return async () => {
          await withdraw();
          throw new Error('the disk is full');
        };
      },
      signal,
    });
    expect(issued.chain).toContain('BEGIN CERTIFICATE');
  });

  test('ends at once when aborted while the challenge is published, and withdraws it later', async () => {
    const abort = new AbortController();
    const placed = Promise.withResolvers<void>();
    const obtained = authority.obtain({
      name: 'aborted.example.com',
      account,
      publishChallenge: async (token, keyAuthorization) => {
        setTimeout(() => abort.abort(new Error('no longer wanted')), 10);
        await placed.promise;
        return publishChallenge(token, keyAuthorization);
      },
      signal: abort.signal,
    });
    await expect(obtained).rejects.toThrow('no longer wanted');
    placed.resolve();
    await expect.poll(() => proven === 1 && challenges.size === 0).toBe(true);
  });

  test('registers the account again after the authority has lost it', async () => {
    await server.restart();
    const order = { name: 'lost.example.com', publishChallenge, signal };
    const refusal = await refusalFrom(authority.obtain({ ...order, account }));
    expect(refusal).toMatchObject({ type: acme('accountDoesNotExist'), validationSpent: false });
    account.url = await authority.register(account, signal);
    expect((await authority.obtain({ ...order, account })).chain).toContain('BEGIN CERTIFICATE');
  });
});
