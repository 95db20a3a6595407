import type { X509Certificate } from 'node:crypto';
import { parseDistinguishedName } from '../../lib/certificates/distinguished-name.ts';
import { signatureAlgorithmOf } from './signature-algorithm.ts';
import { printable } from './untrusted-text.ts';

/** Fields of a server's certificate. The texts are untrusted, so control characters are removed. */
export interface PeerCertificate {
  /** Common name of the issuer, else its organization; '' if it has neither. */
  issuer: string;
  notBefore: Date;
  notAfter: Date;
  /** Hexadecimal, upper case, without separators. */
  serialNumber: string;
  /** Common name of the subject; '' without one, as in many modern certificates. */
  commonName: string;
  /** DNS names among the subject alternative names. */
  dnsNames: string[];
  /** Go's number of the algorithm; 0 for one that Go does not know. */
  signatureAlgorithm: number;
  subject: {
    common_name: string;
    organization: string[];
    organizational_unit: string[];
    country: string[];
    province: string[];
    locality: string[];
  };
  /** How many certificates the server presented, including this one. */
  chainLength: number;
  /** SHA-256 of the certificate: pairs of hexadecimal digits, separated by colons. */
  fingerprint256: string;
}

/** Parses a server certificate. A certificate from a handshake is linked to the rest of its chain. */
export function parsePeerCertificate(leaf: X509Certificate): PeerCertificate {
  const subject = parseDistinguishedName(leaf.subject);
  const issuer = parseDistinguishedName(leaf.issuer);
  const commonName = attribute(subject.get('CN'))[0] ?? '';
  return {
    issuer: attribute(issuer.get('CN'))[0] ?? attribute(issuer.get('O'))[0] ?? '',
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
    serialNumber: leaf.serialNumber,
    commonName,
    dnsNames: dnsNamesOf(leaf.subjectAltName ?? ''),
    signatureAlgorithm: signatureAlgorithmOf(leaf),
    subject: {
      common_name: commonName,
      organization: attribute(subject.get('O')),
      organizational_unit: attribute(subject.get('OU')),
      country: attribute(subject.get('C')),
      province: attribute(subject.get('ST')),
      locality: attribute(subject.get('L')),
    },
    chainLength: presentedChain(leaf).length,
    fingerprint256: leaf.fingerprint256,
  };
}

/** The certificates of a handshake in the order of the server, the leaf first. */
export function presentedChain(leaf: X509Certificate): X509Certificate[] {
  const chain = [leaf];
  for (let next = leaf.issuerCertificate; next; next = next.issuerCertificate) chain.push(next);
  return chain;
}

/** A name may have an attribute any number of times. */
function attribute(values: readonly string[] = []): string[] {
  return values.map(printable);
}

/** Node writes `DNS:a.example, IP Address:192.0.2.1`, and quotes an ambiguous value as a JSON string. */
const ALTERNATIVE_NAME = /(?:^|, )([^:,"]+):("(?:[^"\\]|\\.)*"|[^,"]*)/gy;

function dnsNamesOf(subjectAltName: string): string[] {
  return [...subjectAltName.matchAll(ALTERNATIVE_NAME)]
    .filter(([, kind]) => kind === 'DNS')
    .map(([, , value = '']) => printable(value.startsWith('"') ? String(JSON.parse(value)) : value));
}
