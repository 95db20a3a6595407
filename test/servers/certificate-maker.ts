import 'reflect-metadata';
import { createPrivateKey, type KeyObject, type webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { DAY_MS } from '../../src/lib/durations.ts';

const RSA = { name: 'RSASSA-PKCS1-v1_5', publicExponent: new Uint8Array([1, 0, 1]) };

/** The kinds of keys that tests use. */
const KEYS = {
  p256: { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' },
  p384: { name: 'ECDSA', namedCurve: 'P-384', hash: 'SHA-384' },
  p521: { name: 'ECDSA', namedCurve: 'P-521', hash: 'SHA-512' },
  rsa1024: { ...RSA, modulusLength: 1024, hash: 'SHA-256' },
  rsa2048: { ...RSA, modulusLength: 2048, hash: 'SHA-256' },
  rsa2048sha1: { ...RSA, modulusLength: 2048, hash: 'SHA-1' },
} as const;

export interface WantedCertificate {
  /** The common name. */
  name: string;
  /** Subject alternative names; none for an authority. */
  names?: string[];
  /** Validity in days from `now`. */
  days?: [from: number, until: number];
  keys?: keyof typeof KEYS;
  /** Extended key usages, object identifiers. */
  usages?: string[];
  /** Of an authority: how many authorities may follow below it. */
  pathLength?: number;
  /** Of an authority: domains below which it may and may not certify names. */
  limits?: { permitted?: string[]; excluded?: string[] };
  /** Of an authority: whether its key usage allows it to sign certificates; true if left out. */
  mayCertify?: boolean;
}

export interface MadeCertificate {
  /** PEM. */
  pem: string;
  key: KeyObject;
  certificate: x509.X509Certificate;
  keys: webcrypto.CryptoKeyPair;
  algorithm: (typeof KEYS)[keyof typeof KEYS];
}

/** Makes certificates, self-signed without an issuer. Validity is counted from `now`. */
export function certificateMaker(now: Date) {
  return async (wanted: WantedCertificate, issuer?: MadeCertificate): Promise<MadeCertificate> => {
    const { name, names, days: [from, until] = [-1, 89], keys: kind = 'p256', usages } = wanted;
    const { pathLength, limits, mayCertify = true } = wanted;
    const algorithm = KEYS[kind];
    const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
    const certificate = await x509.X509CertificateGenerator.create({
      subject: [{ CN: [name] }],
      issuer: issuer ? issuer.certificate.subjectName : [{ CN: [name] }],
      notBefore: new Date(now.getTime() + from * DAY_MS),
      notAfter: new Date(now.getTime() + until * DAY_MS),
      publicKey: keys.publicKey,
      signingKey: (issuer ?? { keys }).keys.privateKey,
      signingAlgorithm: issuer?.algorithm ?? algorithm,
      extensions: [
        new x509.BasicConstraintsExtension(names === undefined, pathLength, true),
        ...(names === undefined
          ? [
              new x509.KeyUsagesExtension(
                mayCertify ? x509.KeyUsageFlags.keyCertSign : x509.KeyUsageFlags.cRLSign,
                true,
              ),
            ]
          : [
              new x509.SubjectAlternativeNameExtension(
                names.map((value) => ({ type: 'dns' as const, value })),
              ),
            ]),
        ...(usages === undefined ? [] : [new x509.ExtendedKeyUsageExtension(usages)]),
        ...(limits === undefined ? [] : [nameConstraints(limits)]),
      ],
    });
    const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey));
    return {
      pem: `${certificate.toString('pem').trimEnd()}\n`,
      key: createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' }),
      certificate,
      keys,
      algorithm,
    };
  };
}

export const pkcs8 = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/** NameConstraints of RFC 5280 section 4.2.1.10 with DNS names. */
function nameConstraints({ permitted = [], excluded = [] }: { permitted?: string[]; excluded?: string[] }) {
  const der = (tag: number, content: Buffer) => Buffer.concat([Buffer.from([tag, content.length]), content]);
  const subtrees = (tag: number, domains: string[]) =>
    domains.length === 0
      ? Buffer.alloc(0)
      : der(tag, Buffer.concat(domains.map((domain) => der(0x30, der(0x82, Buffer.from(domain))))));
  const value = der(0x30, Buffer.concat([subtrees(0xa0, permitted), subtrees(0xa1, excluded)]));
  return new x509.Extension('2.5.29.30', true, value);
}
