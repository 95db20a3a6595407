import { X509Certificate } from 'node:crypto';
import { getCACertificates, rootCertificates } from 'node:tls';

/** PEM of the roots that this process trusts: well-known ones, those of `NODE_EXTRA_CA_CERTS`, and `extra`. */
export function trustedPem(extra: readonly string[]): string[] {
  return [...rootCertificates, ...getCACertificates('extra'), ...extra];
}

let ofProcess: X509Certificate[] | undefined;

/** The same roots, parsed. Parsing about 150 of them is slow, so it happens on first use, and only once. */
export function trustedRoots(extra: readonly string[]): X509Certificate[] {
  ofProcess ??= trustedPem([]).map((pem) => new X509Certificate(pem));
  return [...ofProcess, ...extra.map((pem) => new X509Certificate(pem))];
}
