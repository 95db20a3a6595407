import { isIP } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { addressesOf, type DnsResolver } from '../dns/resolver.ts';
import type { AddressPolicy } from './address-policy.ts';
import { shownText } from './foreign-text.ts';
import { getAt, isWebPort, portRefused, refuseUnvisitable, type VisitedPorts } from './get.ts';
import { createHandshake, type Handshake } from './handshake.ts';
import { follow, type Journey } from './journey.ts';
import { hostOf } from './url-host.ts';
import { refusedAddress, type Visit, VisitFailure } from './visit.ts';

export type { VisitedPorts } from './get.ts';
export type { Handshake } from './handshake.ts';
export type { Journey } from './journey.ts';
export type { SeenCertificate } from './seen-certificate.ts';
export type { TlsFailure, TlsProblem } from './tls-verdict.ts';
export { type Visit, VisitFailure, type VisitProblem } from './visit.ts';

/** An address of a host name. */
export interface Target {
  address: string;
  family: 4 | 6;
  /** Whether the policy lets connections go there. */
  allowed: boolean;
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

const LIMIT_MS = 8000;
const MAX_BODY_BYTES = 64 * 1024;

export function createVisitor({
  resolver,
  policy,
  clock,
  extraRoots,
  portsOf,
  limitMs = LIMIT_MS,
}: VisitorOptions): Visitor {
  const handshake = createHandshake({ clock, extraRoots, limitMs });

  const visitor: Visitor = {
    async targets(host, signal) {
      const name = hostOf(host);
      const addresses = isIP(name) === 0 ? await addressesOf(resolver, name, signal) : [name];
      return addresses.map((address) => ({
        address,
        family: isIP(address) === 6 ? 6 : 4,
        allowed: policy(address),
      }));
    },

    async get(url, address, signal, { maxBytes = MAX_BODY_BYTES } = {}) {
      refuseUnvisitable(url);
      if (!policy(address)) {
        throw new VisitFailure(
          'private_address',
          `${shownText(url.href)} leads to ${refusedAddress(address)}.`,
        );
      }
      const ports = portsOf(address);
      if (!isWebPort(url, ports)) throw portRefused(url);
      return getAt(url, address, signal, { ports, maxBytes, limitMs });
    },

    follow: (url, signal, options) => follow({ ...visitor, portsOf }, url, signal, options),

    async handshake(host, address, signal) {
      if (policy(address)) return handshake(hostOf(host), address, portsOf(address).https, signal);
      const sentence = `${shownText(host)} leads to ${refusedAddress(address)}.`;
      return { certificate: null, failure: { problem: 'private_address', sentence } };
    },
  };
  return visitor;
}
