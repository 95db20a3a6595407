import { generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { pino } from 'pino';
import { afterEach, describe, expect, test } from 'vitest';
import { manualClock } from '../../../test/manual-clock.ts';
import { HOUR_MS } from '../../lib/durations.ts';
import { createAuthority } from './acme-authority.ts';
import type { Authority } from './authority.ts';
import {
  type Asked,
  type ScriptedAuthority,
  sendJson,
  sendProblem,
  startScriptedAuthority,
} from './scripted-authority.fixture.ts';

// RFC 9773 appendix A.
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----
`;
const RENEWAL_ID = 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE';

const clock = manualClock();
const { signal } = new AbortController();
const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const account = { key, url: 'https://localhost/account/1' };
const order = {
  name: 'a.example',
  account,
  signal,
  publishChallenge: () => Promise.reject(new Error('not to be proven')),
};
const withRenewal = (base: string) => ({ renewalInfo: `${base}/renewal` });

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
});

async function start(
  answer: (asked: Asked, response: ServerResponse, count: number) => void,
  directory?: (base: string) => object,
): Promise<ScriptedAuthority> {
  const server = await startScriptedAuthority(answer, directory);
  opened.push(server);
  return server;
}

function authorityAt(
  { directoryUrl, ca }: { directoryUrl: string; ca: string | null },
  limits = { requestMs: 5000, totalMs: 10_000 },
  termsAgreed = true,
): Authority {
  const options = { directoryUrl, ca, contact: null, termsAgreed };
  return createAuthority(options, { clock, log: pino({ level: 'silent' }), limits });
}

describe('the directory', () => {
  test('names the authority, and is fetched once a day', async () => {
    let identity = 'one.example';
    const server = await start(
      (_, response) => response.end(),
      () => ({ meta: { caaIdentities: [identity] } }),
    );
    const authority = authorityAt(server);
    expect((await authority.about(signal)).identities).toEqual(['one.example']);
    identity = 'two.example';
    clock.advance(23 * HOUR_MS);
    expect((await authority.about(signal)).identities).toEqual(['one.example']);
    clock.advance(HOUR_MS);
    expect((await authority.about(signal)).identities).toEqual(['two.example']);
  });

  test('that refuses connections', async () => {
    const server = await start((_, response) => response.end());
    await opened.pop()?.close();
    await expect(authorityAt(server).about(signal)).rejects.toMatchObject({
      type: 'unreachable',
      message: expect.stringMatching(/it refuses connections\.$/),
    });
  });

  test.each([
    ['is not HTTPS', 'http://localhost:1/dir', /URLs without HTTPS/],
    ['is of an unknown host', 'https://nothing.invalid/dir', /cannot be looked up/],
  ])('that %s', async (_, directoryUrl, says) => {
    await expect(authorityAt({ directoryUrl, ca: null }).about(signal)).rejects.toMatchObject({
      type: 'unreachable',
      message: expect.stringMatching(says),
    });
  });

  test('that redirects, or is not a directory', async () => {
    const server = await start((asked, response) => {
      if (asked.path === '/moved') response.writeHead(302, { location: '/dir' }).end();
      else sendJson(response, 200, { hello: 'world' });
    });
    const at = (path: string) =>
      authorityAt({ ...server, directoryUrl: server.directoryUrl.replace('/dir', path) }).about(signal);
    await expect(at('/moved')).rejects.toThrow(/HTTP status 302/);
    await expect(at('/other')).rejects.toThrow(/sent a directory that cannot be read/);
  });

  test('that never answers ends at its timeout, or at once by the signal', async () => {
    const mute = createServer((socket) => socket.resume());
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    const address = mute.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    const where = { directoryUrl: `https://localhost:${address.port}/dir`, ca: null };
    try {
      const request = authorityAt(where, { requestMs: 100, totalMs: 10_000 }).about(signal);
      await expect(request).rejects.toMatchObject({
        type: 'unreachable',
        message: /did not answer in time/,
      });
      const total = authorityAt(where, { requestMs: 10_000, totalMs: 100 }).about(signal);
      await expect(total).rejects.toMatchObject({
        type: 'unreachable',
        message: /did not finish within 0\.1 s/,
      });

      const abort = new AbortController();
      setTimeout(() => abort.abort(new Error('no longer wanted')), 50);
      await expect(authorityAt(where).about(abort.signal)).rejects.toThrow('no longer wanted');
    } finally {
      mute.close();
    }
  });
});

test('requests no account before the terms are agreed to', async () => {
  const server = await start(
    (_, response) => response.end(),
    () => ({ meta: { termsOfService: 'https://localhost/terms' } }),
  );
  const declining = authorityAt(server, undefined, false);
  await expect(declining.register({ key, url: null }, signal)).rejects.toMatchObject({ permanent: true });
  expect(server.asked).toEqual([]);
});

describe('an order', () => {
  test('past a rate limit reports Retry-After and is not repeated', async () => {
    const server = await start((_, response) =>
      sendProblem(response, 429, 'rateLimited', { 'retry-after': '7200' }),
    );
    await expect(authorityAt(server).obtain(order)).rejects.toMatchObject({
      type: 'urn:ietf:params:acme:error:rateLimited',
      retryAfterMs: 7_200_000,
      validationSpent: false,
      permanent: false,
    });
    expect(server.asked).toHaveLength(1);
  });

  test('ends if every nonce is refused', async () => {
    const server = await start((_, response) => sendProblem(response, 400, 'badNonce'));
    await expect(authorityAt(server).obtain(order)).rejects.toMatchObject({
      type: 'urn:ietf:params:acme:error:badNonce',
    });
    expect(server.asked.length).toBeLessThan(10);
  });

  test('fails on an answer that is not ACME', async () => {
    const server = await start((_, response) => response.writeHead(502).end('<h1>Bad gateway</h1>'));
    await expect(authorityAt(server).obtain(order)).rejects.toMatchObject({
      type: 'unreachable',
      message: expect.stringMatching(/HTTP status 502/),
    });
  });

  test.each([
    ['connection is lost', 10_000, /closed the connection/],
    ['time is over', 2_000, /did not finish within/],
  ])('whose %s after the validation request has spent it', async (_, totalMs, says) => {
    const base = () => server.directoryUrl.replace('/dir', '');
    let isAsked = false;
    const server = await start(({ path }, response) => {
      if (path === '/order') {
        const order = {
          status: 'pending',
          authorizations: [`${base()}/authz`],
          finalize: `${base()}/finalize`,
        };
        sendJson(response, 201, order, { location: `${base()}/order/1` });
      } else if (path === '/challenge') {
        isAsked = true;
        sendJson(response, 200, {});
      } else if (isAsked && totalMs === 10_000) response.destroy();
      else {
        const challenge = {
          type: 'http-01',
          url: `${base()}/challenge`,
          status: 'pending',
          token: 't'.repeat(43),
        };
        sendJson(response, 200, { status: 'pending', challenges: [challenge] });
      }
    });
    let inPlace = 0;
    const publishChallenge = async () => {
      inPlace++;
      return async () => {
        inPlace--;
      };
    };
    const obtained = authorityAt(server, { requestMs: 5000, totalMs }).obtain({ ...order, publishChallenge });
    await expect(obtained).rejects.toMatchObject({
      type: 'unreachable',
      validationSpent: true,
      message: expect.stringMatching(says),
    });
    expect(isAsked).toBe(true);
    expect(inPlace).toBe(0);
  });

  const identifiers = [{ type: 'dns', value: 'a.example' }];

  test('names the certificate that it replaces, if the authority supports it', async () => {
    const answer = (_: Asked, response: ServerResponse) => sendProblem(response, 403, 'rejectedIdentifier');
    const offering = await start(answer, withRenewal);
    await authorityAt(offering)
      .obtain({ ...order, replaces: RENEWAL_ID })
      .catch(() => {});
    expect(offering.asked.map(({ payload }) => payload)).toEqual([{ identifiers, replaces: RENEWAL_ID }]);

    const plain = await start(answer);
    await authorityAt(plain)
      .obtain({ ...order, replaces: RENEWAL_ID })
      .catch(() => {});
    expect(plain.asked.map(({ payload }) => payload)).toEqual([{ identifiers }]);
  });

  test('that is declined as a replacement is placed as an ordinary one', async () => {
    const server = await start((_, response, count) => {
      if (count === 1) sendProblem(response, 409, 'alreadyReplaced');
      else sendProblem(response, 403, 'rejectedIdentifier');
    }, withRenewal);
    await expect(authorityAt(server).obtain({ ...order, replaces: RENEWAL_ID })).rejects.toMatchObject({
      type: 'urn:ietf:params:acme:error:rejectedIdentifier',
    });
    expect(server.asked.map(({ payload }) => payload)).toEqual([
      { identifiers, replaces: RENEWAL_ID },
      { identifiers },
    ]);
  });
});

describe('renewal information', () => {
  const suggested = (start: string, end: string, headers: Record<string, string> = {}) =>
    startRenewal((response) => sendJson(response, 200, { suggestedWindow: { start, end } }, headers));
  const startRenewal = (answer: (response: ServerResponse) => void) =>
    start((_, response) => answer(response), withRenewal);

  test('is requested by the identifier of the certificate', async () => {
    const server = await suggested('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', {
      'retry-after': '21600',
    });
    expect(await authorityAt(server).renewalWindow(CERTIFICATE, signal)).toEqual({
      start: new Date('2026-03-01T00:00:00Z'),
      end: new Date('2026-03-02T00:00:00Z'),
      retryAfterSeconds: 21_600,
    });
    expect(server.asked).toEqual([{ path: `/renewal/${RENEWAL_ID}`, payload: null }]);
  });

  test('with a window that ends before it starts, or without dates, counts as none', async () => {
    const backwards = await suggested('2026-03-02T00:00:00Z', '2026-03-01T00:00:00Z');
    expect(await authorityAt(backwards).renewalWindow(CERTIFICATE, signal)).toBeNull();
    const dateless = await suggested('soon', 'later');
    expect(await authorityAt(dateless).renewalWindow(CERTIFICATE, signal)).toBeNull();
  });

  test('of an unknown certificate is null; an error of the authority is a refusal', async () => {
    const unknown = await startRenewal((response) => sendProblem(response, 404, 'malformed'));
    expect(await authorityAt(unknown).renewalWindow(CERTIFICATE, signal)).toBeNull();
    const faulty = await startRenewal((response) => sendProblem(response, 500, 'serverInternal'));
    await expect(authorityAt(faulty).renewalWindow(CERTIFICATE, signal)).rejects.toThrow(/internal error/);
  });
});
