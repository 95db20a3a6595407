import type { CertificateSource } from '../../../database/tables/certificates.ts';
import type { SslStatus } from '../../../database/tables/domains.ts';

/** Facts that determine the ssl status of a served domain. */
export interface SslFacts {
  /** Whether an authority is configured. Without one, all certificates are self-signed. */
  authority: boolean;
  certificate: { source: CertificateSource; not_after: string } | null;
  /** Whether the last order failed. */
  refused: boolean;
  now: Date;
}

/** The ssl status of a domain (docs/api.md, Domains). Only a usable certificate is `active`. */
export function sslStatus(facts: SslFacts): SslStatus {
  if (certificateServes(facts)) return 'active';
  if (facts.authority) return facts.refused ? 'failed' : 'pending';
  return facts.certificate === null ? 'pending' : 'failed';
}

/** Whether to redirect visitors to HTTPS. With an authority configured, a self-signed certificate is only temporary. */
export function certificateServes({ authority, certificate, now }: Omit<SslFacts, 'refused'>): boolean {
  if (certificate === null || Date.parse(certificate.not_after) <= now.getTime()) return false;
  return !authority || certificate.source !== 'SELF_SIGNED';
}
