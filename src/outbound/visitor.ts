import type { Handshake } from './handshake.ts';
import type { Journey } from './journey.ts';
import type { Visit } from './visit.ts';

export type { Handshake } from './handshake.ts';
export type { Journey } from './journey.ts';
export type { SeenCertificate } from './seen-certificate.ts';
export type { TlsFailure, TlsProblem } from './tls-verdict.ts';
export { type Visit, VisitFailure, type VisitProblem } from './visit.ts';

export interface VisitedPorts {
  http: number;
  https: number;
}

/** An address of a host name. */
export interface Target {
  address: string;
  family: 4 | 6;
  /** Whether the policy lets connections go there. */
  allowed: boolean;
}

/**
 * Opens names as a visitor would, but only at addresses that the policy allows. Whatever is asked ends when `signal`
 * is aborted, and each single connection by itself after 8 s.
 */
export interface Visitor {
  /** All addresses of a host name, or of an IP address itself, resolved now. Throws NameNotResolved. */
  targets(host: string, signal: AbortSignal): Promise<Target[]>;
  /**
   * One GET of an http or https URL at exactly this address, which the policy judges first; Host header and SNI are the
   * URL's, and so is the port, if it has one. The certificate is not verified, as handshake() judges TLS. Redirects are
   * not followed; of the body at most `maxBytes` (64 KiB) are read. Throws VisitFailure.
   */
  get(url: URL, address: string, signal: AbortSignal, options?: { maxBytes?: number }): Promise<Visit>;
  /**
   * get(), following at most 10 redirects; each hop is resolved and judged anew. The first hop goes to `address`, if
   * given. Never throws for what the network does.
   */
  follow(url: URL, signal: AbortSignal, options?: { address?: string; maxBytes?: number }): Promise<Journey>;
  /**
   * A TLS handshake with SNI at this address. The certificate is verified for the name, against the well-known roots
   * and the extra ones. Never throws for what the network does.
   */
  handshake(host: string, address: string, signal: AbortSignal): Promise<Handshake>;
}
