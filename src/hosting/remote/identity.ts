import { type webcrypto, X509Certificate } from 'node:crypto';
import { DAY_MS } from '../../lib/durations.ts';
import { parseUuid } from '../../lib/ids.ts';
import { OperatorError } from '../../lib/operator-error.ts';

/** A certificate and its private key, both PEM. */
export interface Certified {
  certificate: string;
  /** PKCS#8, unencrypted. */
  key: string;
}

/** A host's certificate, and the authority that it accepts the control plane's certificate from. */
export interface HostIdentity extends Certified {
  hostId: string;
  /** The authority's certificate, PEM. */
  ca: string;
}

/** The control plane's certificate, and the authority that it accepts hosts' certificates from. */
export interface ClientIdentity extends Certified {
  ca: string;
}

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
/** Long, because these certificates are not renewed. Removing a host ends their use. */
const AUTHORITY_DAYS = 7300;
const LEAF_DAYS = 3650;
/** Clocks of two machines differ. */
const CLOCK_SKEW_MS = DAY_MS;
/** id-kp-serverAuth and id-kp-clientAuth, RFC 5280 section 4.2.1.12: a host cannot pose as the control plane. */
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/** The name in a host's certificate. It prevents hosts from impersonating each other. */
export function hostNameOf(hostId: string): string {
  return `${hostId}.host.homeport.internal`;
}

/** A new authority for the hosts of one platform, and for nothing else. `name`: shown in its certificate. */
export async function createAuthority(now: Date, name = 'Homeport hosts'): Promise<Certified> {
  const x509 = await loadX509();
  const keys = await crypto.subtle.generateKey(P256, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [name] }],
    ...validity(now, AUTHORITY_DAYS),
    signingAlgorithm: P256,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { certificate: pem(certificate.toString('pem')), key: await exported(keys.privateKey) };
}

export async function createHostIdentity(
  authority: Certified,
  hostId: string,
  now: Date,
): Promise<HostIdentity> {
  const certified = await issue(authority, {
    name: hostNameOf(hostId),
    purposes: [SERVER_AUTH],
    now,
  });
  return { hostId, ca: authority.certificate, ...certified };
}

export async function createClientIdentity(authority: Certified, now: Date): Promise<ClientIdentity> {
  const certified = await issue(authority, {
    name: 'control-plane.homeport.internal',
    purposes: [CLIENT_AUTH],
    now,
  });
  return { ca: authority.certificate, ...certified };
}

/** The file of an identity: certificate, key, authority. */
export function formatIdentity({ certificate, key, ca }: HostIdentity): string {
  return `${certificate}${key}${ca}`;
}

const BLOCK = /-----BEGIN ([A-Z ]+)-----[^-]+-----END \1-----\n?/g;

/** Reads what {@link formatIdentity} wrote. Throws OperatorError for anything else. */
export function parseIdentity(text: string): HostIdentity {
  const blocks = [...text.matchAll(BLOCK)].map(([block, kind]) => ({ block: pem(block), kind }));
  const [certificate, ca] = blocks.filter(({ kind }) => kind === 'CERTIFICATE');
  const key = blocks.find(({ kind }) => kind === 'PRIVATE KEY');
  if (certificate === undefined || ca === undefined || key === undefined || blocks.length !== 3) {
    throw notOne('it does not hold a certificate, a key and an authority');
  }
  const name = new X509Certificate(certificate.block).subjectAltName ?? '';
  const hostId = parseUuid(/^DNS:([0-9a-f-]{36})\.host\.homeport\.internal$/.exec(name)?.[1] ?? '');
  if (hostId === undefined) throw notOne('its certificate is not a host certificate');
  return { hostId, certificate: certificate.block, key: key.block, ca: ca.block };
}

function notOne(why: string): OperatorError {
  return new OperatorError(
    `The identity of this host cannot be used: ${why}. "homeport host add" on the control plane writes the file.`,
  );
}

/** A certificate with a new key. `name` is its only DNS name. */
export async function issue(
  authority: Certified,
  { name, subject = '', purposes, now }: { name: string; subject?: string; purposes: string[]; now: Date },
): Promise<Certified> {
  const x509 = await loadX509();
  const issuer = new x509.X509Certificate(authority.certificate);
  const signingKey = await crypto.subtle.importKey(
    'pkcs8',
    x509.PemConverter.decodeFirst(authority.key),
    P256,
    false,
    ['sign'],
  );
  const keys = await crypto.subtle.generateKey(P256, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.create({
    issuer: issuer.subject,
    subject,
    ...validity(now, LEAF_DAYS),
    signingAlgorithm: P256,
    signingKey,
    publicKey: keys.publicKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension(purposes, true),
      // RFC 5280 section 4.2.1.6: critical if the subject is empty. The names are too long for a common name.
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: name }], true),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { certificate: pem(certificate.toString('pem')), key: await exported(keys.privateKey) };
}

/** Loading the library costs about 100 ms and 20 MB, and each host needs it only once. */
async function loadX509() {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

function validity(now: Date, days: number): { notBefore: Date; notAfter: Date } {
  const seconds = Math.floor((now.getTime() - CLOCK_SKEW_MS) / 1000);
  return { notBefore: new Date(seconds * 1000), notAfter: new Date(seconds * 1000 + days * DAY_MS) };
}

async function exported(key: webcrypto.CryptoKey): Promise<string> {
  const { PemConverter } = await loadX509();
  return pem(PemConverter.encode(await crypto.subtle.exportKey('pkcs8', key), 'PRIVATE KEY'));
}

function pem(text: string): string {
  return `${text.trim()}\n`;
}
