import type { SeenCertificate } from './seen-certificate.ts';
import type { TlsFailure } from './tls-verdict.ts';

/** What a TLS handshake showed. */
export interface Handshake {
  /** Null if the connection did not get as far as a certificate. */
  certificate: SeenCertificate | null;
  /** Null if all is well. */
  failure: TlsFailure | null;
}
