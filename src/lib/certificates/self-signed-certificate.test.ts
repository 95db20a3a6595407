import { createPrivateKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:tls';
import { expect, test } from 'vitest';
import { createSelfSigned, type SelfSigned } from './self-signed-certificate.ts';

const notBefore = new Date('2026-03-01T10:20:30.999Z');

test('the certificate says what was asked, and the key is its own', async () => {
  const made = await createSelfSigned({
    names: ['localhost', '*.localhost', '127.0.0.1', '::1'],
    notBefore,
    days: 90,
  });
  const certificate = new X509Certificate(made.chain);
  expect(certificate.subject).toBe('CN=localhost');
  expect(certificate.issuer).toBe('CN=localhost');
  expect(certificate.subjectAltName).toBe(
    'DNS:localhost, DNS:*.localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1',
  );
  expect(certificate.ca).toBe(false);
  expect(certificate.keyUsage).toEqual(['1.3.6.1.5.5.7.3.1']);
  expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe('prime256v1');
  expect(certificate.validFromDate).toEqual(new Date('2026-03-01T10:20:30Z'));
  expect(certificate.validToDate).toEqual(new Date('2026-05-30T10:20:30Z'));
  expect([made.notBefore, made.notAfter]).toEqual([certificate.validFromDate, certificate.validToDate]);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(made.key).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  expect(certificate.checkPrivateKey(createPrivateKey(made.key))).toBe(true);
});

test('two certificates share neither key nor serial number', async () => {
  const [a, b] = await Promise.all(
    [1, 2].map(() => createSelfSigned({ names: ['a.test'], notBefore, days: 1 })),
  );
  expect(a?.key).not.toBe(b?.key);
  expect(new X509Certificate(a?.chain ?? '').serialNumber).not.toBe(
    new X509Certificate(b?.chain ?? '').serialNumber,
  );
});

test('a first name that is too long for a common name is an alternative name only', async () => {
  const name = `${'a'.repeat(60)}.${'b'.repeat(60)}.test`;
  const certificate = new X509Certificate(
    (await createSelfSigned({ names: [name], notBefore, days: 1 })).chain,
  );
  expect(certificate.subject).toBeUndefined();
  expect(certificate.checkHost(name)).toBe(name);
});

test('validity beyond 2049 is written as RFC 5280 asks', async () => {
  const made = await createSelfSigned({ names: ['a.test'], notBefore: new Date('2049-12-31Z'), days: 5 });
  expect(new X509Certificate(made.chain).validToDate).toEqual(new Date('2050-01-05Z'));
});

test.each([
  [[], 1, 'at least one name'],
  [['two words'], 1, 'neither a host name nor an IP address'],
  [['a.test', '*'], 1, 'neither a host name nor an IP address'],
  [['a.test'], 0, 'at least one day'],
  [['a.test'], 1.5, 'at least one day'],
])('refuses names %j for %d days', async (names, days, why) => {
  await expect(createSelfSigned({ names, notBefore, days })).rejects.toThrow(why);
});

/** Whether a client that trusts these certificates completes a handshake with a server that has this one. */
async function isTrusted({ chain, key }: SelfSigned, ca: string[], servername?: string): Promise<boolean> {
  const server = createServer({ cert: chain, key }, (socket) => socket.on('error', () => {}).end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    const socket = connect({ host: '127.0.0.1', port, ca, servername, rejectUnauthorized: false });
    await once(socket, 'secureConnect');
    socket.destroy();
    return socket.authorized;
  } finally {
    server.close();
  }
}

const fromNow = { notBefore: new Date(Date.now() - 60_000), days: 1 };

test('a client that trusts it completes a TLS handshake, by name and by address', async () => {
  const made = await createSelfSigned({ names: ['localhost', '*.hosting.test', '127.0.0.1'], ...fromNow });
  for (const name of ['localhost', 'blog.hosting.test', undefined]) {
    expect(await isTrusted(made, [made.chain], name)).toBe(true);
  }
  expect(await isTrusted(made, [made.chain], 'other.test')).toBe(false);
});

test('a client can trust the servers of several installations, which all have the name localhost', async () => {
  const made = await Promise.all([1, 2, 3].map(() => createSelfSigned({ names: ['localhost'], ...fromNow })));
  const ca = made.map(({ chain }) => chain);
  for (const each of made) expect(await isTrusted(each, ca, 'localhost')).toBe(true);
});
