import type { X509Certificate } from 'node:crypto';
import { signatureAlgorithmOf } from './signature-algorithm.ts';
import { printable } from './untrusted-text.ts';

/** What a server's certificate says of itself. Whoever made it chose the words, so they hold no control characters. */
export interface PeerCertificate {
  /** Common name of the issuer, else its organization; '' if it has neither. */
  issuer: string;
  notBefore: Date;
  notAfter: Date;
  /** Hexadecimal, upper case, without separators. */
  serialNumber: string;
  /** Of the subject; '' if it has none, as modern certificates may. */
  commonName: string;
  /** The DNS names among its subject alternative names. */
  dnsNames: string[];
  /** As Go numbers them; 0 for one that Go does not know. */
  signatureAlgorithm: number;
  subject: {
    common_name: string;
    organization: string[];
    organizational_unit: string[];
    country: string[];
    province: string[];
    locality: string[];
  };
  /** How many certificates the server showed, this one included. */
  chainLength: number;
  /** SHA-256 of the certificate: pairs of hexadecimal digits with colons between. */
  fingerprint256: string;
}

/** Reads a server certificate. One that came by a handshake brings the others that were shown with it. */
export function parsePeerCertificate(leaf: X509Certificate): PeerCertificate {
  const { subject, issuer } = leaf.toLegacyObject();
  const commonName = attribute(subject.CN)[0] ?? '';
  return {
    issuer: attribute(issuer.CN)[0] ?? attribute(issuer.O)[0] ?? '',
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
    serialNumber: leaf.serialNumber,
    commonName,
    dnsNames: dnsNamesOf(leaf.subjectAltName ?? ''),
    signatureAlgorithm: signatureAlgorithmOf(leaf),
    subject: {
      common_name: commonName,
      organization: attribute(subject.O),
      organizational_unit: attribute(subject.OU),
      country: attribute(subject.C),
      province: attribute(subject.ST),
      locality: attribute(subject.L),
    },
    chainLength: presentedChain(leaf).length,
    fingerprint256: leaf.fingerprint256,
  };
}

/** The certificates of a handshake in the order in which the server sent them, its own first. */
export function presentedChain(leaf: X509Certificate): X509Certificate[] {
  const chain = [leaf];
  for (let next = leaf.issuerCertificate; next; next = next.issuerCertificate) chain.push(next);
  return chain;
}

/** An attribute that a name has not, has once, or has several times. */
function attribute(values: string | string[] | undefined): string[] {
  return [values ?? []].flat().map(printable);
}

/** Node writes `DNS:a.example, IP Address:192.0.2.1`, and a value that could be mistaken for several as a JSON string. */
const ALTERNATIVE_NAME = /(?:^|, )([^:,"]+):("(?:[^"\\]|\\.)*"|[^,"]*)/gy;

function dnsNamesOf(subjectAltName: string): string[] {
  return [...subjectAltName.matchAll(ALTERNATIVE_NAME)]
    .filter(([, kind]) => kind === 'DNS')
    .map(([, , value = '']) => printable(value.startsWith('"') ? String(JSON.parse(value)) : value));
}
