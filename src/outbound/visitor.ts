import type { Clock } from '../clock.ts';
import type { DnsResolver } from '../dns/resolver.ts';
import type { AddressPolicy } from './address-policy.ts';
import type { SeenCertificate } from './seen-certificate.ts';
import type { VisitFailure } from './visit-failure.ts';

export type { SeenCertificate } from './seen-certificate.ts';
export { VisitFailure, type VisitProblem } from './visit-failure.ts';

/** The ports that stand for http and https where a URL names none. */
export interface VisitedPorts {
  http: number;
  https: number;
}

/** An address of a host name. */
export interface Target {
  address: string;
  family: 4 | 6;
  /** The policy lets Homeport connect to it. */
  allowed: boolean;
}

/** The answer to one GET. */
export interface Visit {
  status: number;
  /** By lower-case name; values of repeated headers are joined with a comma. */
  headers: Record<string, string>;
  /** Its beginning, as UTF-8; '' for a redirect. */
  body: string;
  /** Where a redirect sends to, resolved against the URL asked; null for anything else, and where it is no URL. */
  location: URL | null;
}

/** A GET with its redirects. */
export interface Journey {
  /** Every URL asked, in order. */
  urls: string[];
  /** The last answer that came, be it a redirect. */
  last: Visit | null;
  /** Why it did not end at an answer that is no redirect; else null. */
  failure: VisitFailure | null;
}

export type TlsProblem =
  | 'expired'
  | 'not_yet_valid'
  | 'wrong_name'
  | 'self_signed'
  | 'incomplete_chain'
  | 'unknown_issuer'
  | 'no_tls'
  | 'refused'
  | 'timeout'
  | 'reset'
  | 'private_address'
  | 'unreachable'
  | 'alert';

/** Why visitors do not get a secure connection: one sentence that says what to do. */
export interface TlsFailure {
  problem: TlsProblem;
  sentence: string;
}

export interface Handshake {
  /** What the server showed, also where it is not accepted; null if it came to none. */
  certificate: SeenCertificate | null;
  /** Null: all is well. */
  failure: TlsFailure | null;
}

/** Opens names as a visitor would, but only at addresses that the policy allows. */
export interface Visitor {
  /** All addresses of a host name or IP literal, resolved now. Throws NameNotResolved. */
  targets(host: string, signal: AbortSignal): Promise<Target[]>;
  /**
   * One GET of `url` at exactly `address`, with the Host header and SNI of the URL. The certificate is not verified and
   * no redirect followed; of the body at most `maxBytes` (default 64 KiB) are read. Throws VisitFailure.
   */
  get(url: URL, address: string, signal: AbortSignal, options?: { maxBytes?: number }): Promise<Visit>;
  /**
   * `get` with at most 10 redirects followed, each hop resolved and checked anew; the first is at `address` if given.
   * Never throws for what the network does.
   */
  follow(url: URL, signal: AbortSignal, options?: { address?: string; maxBytes?: number }): Promise<Journey>;
  /**
   * A TLS handshake with SNI, verified against the well-known roots and those of the options. Never throws for what the
   * network does.
   */
  handshake(host: string, address: string, signal: AbortSignal): Promise<Handshake>;
}

export interface VisitorOptions {
  resolver: DnsResolver;
  policy: AddressPolicy;
  clock: Clock;
  /** PEM; trusted besides the well-known roots. */
  extraRoots: string[];
  portsOf: (address: string) => VisitedPorts;
  /** After so many milliseconds every single connection ends as `timeout`; 8 s. */
  limitMs?: number;
}
