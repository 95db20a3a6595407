import { X509Certificate } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import ipaddr from 'ipaddr.js';
import { pino } from 'pino';
import Type from 'typebox';
import { afterAll, expect, test } from 'vitest';
import { readUploadIsolated } from '../../src/features/domains/certificates/uploads/isolated-upload.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { mapConcurrent } from '../../src/lib/concurrency.ts';
import { codeOf } from '../../src/lib/error-code.ts';
import { InvalidRequest } from '../../src/lib/failures.ts';
import { readIssued } from '../../src/network/acme/issued-certificate.ts';
import { AcmeRefusal } from '../../src/network/acme/refusal.ts';
import { createDnsResolver } from '../../src/network/dns/resolver.ts';
import { createAddressPolicy } from '../../src/network/probe/address-policy.ts';
import { parsePeerCertificate } from '../../src/network/probe/peer-certificate.ts';
import { createProber, ProbeFailure, type Prober } from '../../src/network/probe/prober.ts';
import { isLong, rounds } from '../rounds.ts';
import { makeOddCertificates, type OddCertificate } from '../servers/odd-certificates.ts';
import { startRawTlsServer } from '../servers/raw-tls-server.ts';
import { startTlsServer, type TestSite } from '../servers/tls-servers.ts';

/**
 * Certificates of strangers end in an ordinary answer. The process that reads them may die of one, and the log says so; of those here it dies of
 * none.
 */
const HOST = 'odd.example';
const { authority, usual, impostor, odd } = makeOddCertificates(HOST, rounds(24, 1_000));
const AT_ONCE = 8;

const warnings: string[] = [];
const log = pino({ level: 'warn' }, { write: (line) => void warnings.push(line) });
afterAll(() => expect(warnings).toEqual([]));

const never = new AbortController().signal;
setMaxListeners(0, never);

async function visit<Result>(site: TestSite, work: (prober: Prober) => Promise<Result>): Promise<Result> {
  const prober = createProber({
    resolver: createDnsResolver([]),
    policy: createAddressPolicy([ipaddr.parseCIDR('127.0.0.0/8')]),
    clock: systemClock,
    extraRoots: [authority],
    portsOf: () => ({ http: 1, https: site.port }),
    log,
  });
  try {
    return await work(prober);
  } finally {
    await site.remove();
  }
}

/** Makes a handshake and sends a request. Returns the number of certificates that the check saw; 0 if OpenSSL does not serve them. */
async function check(start: () => Promise<TestSite>): Promise<number> {
  let site: TestSite;
  try {
    site = await start();
  } catch (error) {
    if (codeOf(error)?.startsWith('ERR_OSSL_') || codeOf(error)?.startsWith('ERR_SSL_')) return 0;
    throw error;
  }
  const { certificate } = await visit(site, async (prober) => {
    const request = prober.get(new URL(`https://${HOST}/`), '127.0.0.1', never);
    const outcome = await request.catch((error: unknown) => error);
    if (outcome instanceof Error) expect(outcome).toBeInstanceOf(ProbeFailure);
    return prober.handshake(HOST, '127.0.0.1', never);
  });
  return certificate?.chainLength ?? 0;
}

const bytesOf = (pem: string) => Buffer.from(pem.replace(/-----.*-----/g, ''), 'base64');

test('an upload is accepted or refused', async () => {
  const refused = new Map<string, string>();
  const schema = Type.Object({ certificate: Type.String(), private_key: Type.String() });
  const upload = async ({ name, pem, key }: OddCertificate) => {
    const sent = { certificate: pem, private_key: key ?? usual.key ?? '', now: new Date() };
    const outcome = await readUploadIsolated({ ...sent, extraRoots: [authority] }, { schema, log }).catch(
      (error: unknown) => error,
    );
    if (outcome instanceof InvalidRequest) refused.set(name, outcome.message);
    else if (outcome instanceof Error) throw new Error(name, { cause: outcome });
  };
  await upload(usual);
  expect(refused.size).toBe(0);
  await mapConcurrent(odd, AT_ONCE, upload);
  expect(refused.get('curve brainpoolP256r1')).toMatch(
    /^The key of "odd.example" is an ECDSA key on the curve/,
  );
  expect(refused.has('broken copy 0')).toBe(true);
});

test('a server is checked, whatever its certificate', async () => {
  const servers = odd.filter(({ key }) => key !== null);
  const presented = new Set<string>();
  await mapConcurrent(servers, AT_ONCE, async ({ name, pem, key }) => {
    if ((await check(() => startTlsServer({ chain: pem, key: key ?? '' }))) > 0) presented.add(name);
  });
  // Browsers cannot use them, and OpenSSL completes the handshake.
  const served = ['curve brainpoolP256r1', 'curve brainpoolP512r1', 'Ed25519', 'RSA-PSS', 'a long name'];
  expect([...presented]).toEqual(expect.arrayContaining(served));
});

test('a server is checked, whatever else its chain has', async () => {
  const key = usual.key ?? '';
  const others = odd.filter(({ pem }) => isReadable(pem));
  expect(others.length).toBeGreaterThan(100);
  await mapConcurrent(sample(others), AT_ONCE, async ({ pem }) => {
    await check(() => startTlsServer({ chain: usual.pem + pem, key }));
  });
  // OpenSSL trusts the server, and Node takes the other certificate for its issuer's.
  expect(await check(() => startTlsServer({ chain: usual.pem + impostor, key }))).toBe(2);
});

/** The server reads certificates of its authority itself, and those that it stored. */
test('an authority may issue any, and any can be stored', async () => {
  const refused: string[] = [];
  for (const { name, pem, key } of [usual, ...odd]) {
    const order = { name: HOST, key: key ?? usual.key ?? '' };
    const outcome = await readIssued(pem, order).catch((error: unknown) => error);
    if (outcome instanceof AcmeRefusal) refused.push(name);
    else if (outcome instanceof Error) throw new Error(name, { cause: outcome });
    if (isReadable(pem)) expect(parsePeerCertificate(new X509Certificate(pem)).chainLength).toBe(1);
  }
  expect(refused).not.toContain('usual');
  expect(refused).toContain('no number');
});

/** Every fourth in `npm test`: a handshake with each takes long, and uploads, orders and probes read all of them with the same code. */
const sample = (all: OddCertificate[]) => all.filter((_, index) => isLong || index % 4 === 0);

/** Whether a TLS server of this process can load it. */
function isReadable(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}

test('a server is checked, whatever bytes it presents', async () => {
  await mapConcurrent(sample(odd), AT_ONCE, async ({ pem }) => {
    const bytes = bytesOf(pem);
    await check(() => startRawTlsServer([bytes]));
    await check(() => startRawTlsServer([bytesOf(usual.pem), bytes, Buffer.alloc(0)]));
  });
});
