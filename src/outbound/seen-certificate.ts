import type { X509Certificate } from 'node:crypto';
import { goSignatureAlgorithm } from './signature-algorithm.ts';

/** What a certificate says of itself, as the report of a domain needs it. Nothing in it has been verified. */
export interface SeenCertificate {
  /** The issuer's common name, else its organization; '' if it has neither. */
  issuer: string;
  notBefore: Date;
  /** The last second in which it is valid. */
  notAfter: Date;
  /** Upper-case hexadecimal. */
  serialNumber: string;
  /** '' if the subject has none. */
  commonName: string;
  /** The subject alternative names that are host names, in the certificate's order. */
  dnsNames: string[];
  /** The number that Go's crypto/x509 gives the algorithm that it is signed with; 0 for one that it does not know. */
  signatureAlgorithm: number;
  subject: {
    common_name: string;
    organization: string[];
    organizational_unit: string[];
    country: string[];
    province: string[];
    locality: string[];
  };
  /** How many certificates were sent, this one included. */
  chainLength: number;
  /** SHA-256 of its DER form: upper-case hexadecimal pairs with colons between them. */
  fingerprint256: string;
}

/** More than a server may sensibly send; an end to whatever a chain can be made to look like. */
const LONGEST_CHAIN = 32;

/** Reads the leaf of a chain. A certificate from a TLS connection knows what was sent with it; one from PEM is alone. */
export function parseSeenCertificate(leaf: X509Certificate): SeenCertificate {
  // The legacy object holds names as they are; the strings of `subject` and `issuer` are escaped for printing.
  const { subject, issuer, subjectaltname } = leaf.toLegacyObject();
  const commonName = valuesOf(subject, 'CN')[0] ?? '';
  return {
    issuer: valuesOf(issuer, 'CN')[0] ?? valuesOf(issuer, 'O')[0] ?? '',
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
    serialNumber: leaf.serialNumber,
    commonName,
    dnsNames: dnsNamesOf(subjectaltname ?? ''),
    signatureAlgorithm: goSignatureAlgorithm(leaf),
    subject: {
      common_name: commonName,
      organization: valuesOf(subject, 'O'),
      organizational_unit: valuesOf(subject, 'OU'),
      country: valuesOf(subject, 'C'),
      province: valuesOf(subject, 'ST'),
      locality: valuesOf(subject, 'L'),
    },
    chainLength: sentChain(leaf).length,
    fingerprint256: leaf.fingerprint256,
  };
}

/** The certificate and those that the server sent behind it, in the order of sending. */
export function sentChain(leaf: X509Certificate): X509Certificate[] {
  const chain: X509Certificate[] = [];
  let next: X509Certificate | undefined = leaf;
  while (next !== undefined && chain.length < LONGEST_CHAIN) {
    chain.push(next);
    next = next.issuerCertificate;
  }
  return chain;
}

/** The values of one attribute of a distinguished name, which has none, one or several. */
function valuesOf(name: object | undefined, attribute: string): string[] {
  const values: unknown = Object.entries(name ?? {}).find(([key]) => key === attribute)?.[1];
  return [values].flat().filter((value) => typeof value === 'string');
}

/** One entry, `type:value`. A value in which a comma or a quote could mislead stands as a JSON string. */
const ALTERNATIVE_NAME = /([^:,]+):("(?:[^"\\]|\\.)*"|[^,]*)(?:, |$)/gy;

function dnsNamesOf(alternativeNames: string): string[] {
  const names: string[] = [];
  for (const [, type, value = ''] of alternativeNames.matchAll(ALTERNATIVE_NAME)) {
    if (type === 'DNS') names.push(value.startsWith('"') ? String(JSON.parse(value)) : value);
  }
  return names;
}
