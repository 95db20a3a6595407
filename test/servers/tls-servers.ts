import { DAY_MS } from '../../src/lib/durations.ts';
import 'reflect-metadata';
import type { webcrypto } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import * as x509 from '@peculiar/x509';

/** The kind of a server's chain: accepted by browsers that trust the root, or with this fault. */
export type ChainKind =
  | 'good'
  | 'expired'
  | 'not_yet_valid'
  | 'wrong_name'
  | 'self_signed'
  /** The intermediate certificate is left out. */
  | 'incomplete_chain'
  /** A complete chain up to an untrusted root, which is sent too. */
  | 'unknown_issuer';

/** A certificate chain and key for a server, both PEM. */
export interface ServerChain {
  chain: string;
  key: string;
}

/** Authorities and their certificates, created at run time. */
export interface TestPki {
  /** PEM of the root of all chains except `unknown_issuer` and `self_signed`. */
  root: string;
  chains: Record<ChainKind, ServerChain>;
}

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

interface Holder {
  certificate: x509.X509Certificate;
  keys: webcrypto.CryptoKeyPair;
}

interface Wanted {
  name: string;
  /** Subject alternative names; none for an authority. */
  names?: string[];
  days: [from: number, until: number];
}

/** Chains of every kind for these host names; validity is counted from `now`. */
export async function createTestPki(names: string[], now = new Date()): Promise<TestPki> {
  const [name = ''] = names;
  const certify = certifier(now);
  const root = await certify({ name: 'Homeport Test Root', days: [-1000, 1000] });
  const intermediate = await certify({ name: 'Homeport Test Intermediate', days: [-500, 500] }, root);
  const strangeRoot = await certify({ name: 'Unknown Root', days: [-1000, 1000] });
  const strange = await certify({ name: 'Unknown Intermediate', days: [-500, 500] }, strangeRoot);

  const days: Wanted['days'] = [-1, 89];
  const issue = async (wanted: Partial<Wanted>, issuer: Holder, above: Holder[]): Promise<ServerChain> => {
    const leaf = await certify({ name, names, days, ...wanted }, issuer);
    return serverChain([leaf, ...above]);
  };
  const other = { name: 'other.example', names: ['other.example'] };
  return {
    root: pem(root),
    chains: {
      good: await issue({}, intermediate, [intermediate]),
      expired: await issue({ days: [-91, -1] }, intermediate, [intermediate]),
      not_yet_valid: await issue({ days: [1, 91] }, intermediate, [intermediate]),
      wrong_name: await issue(other, intermediate, [intermediate]),
      self_signed: await serverChain([await certify({ name, names, days })]),
      incomplete_chain: await issue({}, intermediate, []),
      unknown_issuer: await issue({}, strange, [strange, strangeRoot]),
    },
  };
}

/** Creates a key and its certificate: an authority's if it names no hosts, self-signed without an issuer. */
function certifier(now: Date): (wanted: Wanted, issuer?: Holder) => Promise<Holder> {
  return async ({ name, names, days: [from, until] }, issuer) => {
    const keys = await crypto.subtle.generateKey(P256, true, ['sign', 'verify']);
    const isAuthority = names === undefined;
    const certificate = await x509.X509CertificateGenerator.create({
      subject: [{ CN: [name] }],
      issuer: issuer ? issuer.certificate.subjectName : [{ CN: [name] }],
      notBefore: new Date(now.getTime() + from * DAY_MS),
      notAfter: new Date(now.getTime() + until * DAY_MS),
      publicKey: keys.publicKey,
      signingKey: (issuer ?? { keys }).keys.privateKey,
      signingAlgorithm: P256,
      extensions: [
        new x509.BasicConstraintsExtension(isAuthority, undefined, true),
        ...(isAuthority
          ? [new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true)]
          : [
              new x509.SubjectAlternativeNameExtension(names.map((value) => ({ type: 'dns', value }))),
              // As public authorities do; no server answers there.
              ...(issuer
                ? [new x509.AuthorityInfoAccessExtension({ caIssuers: 'http://issuer.invalid/ca.der' })]
                : []),
            ]),
      ],
    });
    return { certificate, keys };
  };
}

async function serverChain(holders: [Holder, ...Holder[]]): Promise<ServerChain> {
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', holders[0].keys.privateKey);
  return {
    chain: holders.map(pem).join(''),
    key: `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY').trimEnd()}\n`,
  };
}

function pem({ certificate }: Holder): string {
  return `${certificate.toString('pem').trimEnd()}\n`;
}

/** A server for a test to visit. */
export interface TestSite {
  address: string;
  port: number;
  /** Ends it and every connection to it. */
  remove(): Promise<void>;
}

export interface SiteOptions {
  /** 127.0.0.1 if left out. */
  address?: string;
  /** Any free one if left out. */
  port?: number;
  /** Says "hello" if left out. */
  answer?: RequestListener;
}

/** A web server over TLS that always serves this chain. */
export function startTlsServer({ chain, key }: ServerChain, options: SiteOptions = {}): Promise<TestSite> {
  return listen(createTlsServer({ cert: chain, key }, options.answer ?? hello), options);
}

/** A web server without TLS. */
export function startPlainServer(options: SiteOptions = {}): Promise<TestSite> {
  return listen(createServer(options.answer ?? hello), options);
}

const hello: RequestListener = (_request, response) => {
  response.end('hello');
};

function listen(server: ReturnType<typeof createServer>, options: SiteOptions): Promise<TestSite>;
function listen(server: ReturnType<typeof createTlsServer>, options: SiteOptions): Promise<TestSite>;
function listen(
  server: ReturnType<typeof createServer> | ReturnType<typeof createTlsServer>,
  { address = '127.0.0.1', port = 0 }: SiteOptions,
): Promise<TestSite> {
  const { promise, resolve, reject } = Promise.withResolvers<TestSite>();
  server.once('error', reject);
  server.listen(port, address, () => {
    resolve({
      address,
      port: portOf(server.address()),
      async remove() {
        const closed = new Promise<void>((done) => server.close(() => done()));
        server.closeAllConnections();
        await closed;
      },
    });
  });
  return promise;
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string')
    throw new Error('The server does not listen on a port.');
  return address.port;
}
