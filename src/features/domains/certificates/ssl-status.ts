import type { CertificateSource } from '../../../database/tables/certificates.ts';
import type { SslStatus } from '../../../database/tables/domains.ts';

/** What the ssl status of a served domain follows from. */
export interface SslFacts {
  /** Whether an authority is configured; without one a self-signed certificate is all that can be had. */
  authority: boolean;
  certificate: { source: CertificateSource; not_after: string } | null;
  /** Whether the last try to get one from the authority failed. */
  refused: boolean;
  now: Date;
}

/** The ssl status of a domain (gaps section 5). `active` is said only of a certificate that serves. */
export function sslStatus(facts: SslFacts): SslStatus {
  if (certificateServes(facts)) return 'active';
  if (facts.authority) return facts.refused ? 'failed' : 'pending';
  return facts.certificate === null ? 'pending' : 'failed';
}

/** Whether visitors can be sent to HTTPS: with an authority configured, a self-signed certificate is only a stopgap. */
export function certificateServes({ authority, certificate, now }: Omit<SslFacts, 'refused'>): boolean {
  if (certificate === null || Date.parse(certificate.not_after) <= now.getTime()) return false;
  return !authority || certificate.source !== 'SELF_SIGNED';
}
