import { isIP } from 'node:net';
import type { Clock } from '../../lib/clock.ts';
import { bareHost } from '../../lib/host-names.ts';
import { addressesOf, type DnsResolver } from '../dns/resolver.ts';
import type { AddressPolicy } from './address-policy.ts';
import { getAt, isWebPort, portRefused, refuseUnsafeUrl, type WebPorts } from './get.ts';
import { createHandshake, type Handshake } from './handshake.ts';
import { ProbeFailure, type ProbeResponse, refusedAddress } from './probe-response.ts';
import { followRedirects, type RedirectChain } from './redirect-chain.ts';
import type { Target } from './target.ts';
import { quotable } from './untrusted-text.ts';

export type { WebPorts } from './get.ts';
export type { Handshake } from './handshake.ts';
export type { PeerCertificate } from './peer-certificate.ts';
export { ProbeFailure, type ProbeProblem, type ProbeResponse } from './probe-response.ts';
export type { RedirectChain } from './redirect-chain.ts';
export type { Target } from './target.ts';
export type { TlsFailure, TlsProblem } from './tls-verdict.ts';

/** Opens names as a visitor would, but only at addresses that the policy allows. */
export interface Prober {
  /** All addresses of a host name or IP literal, resolved now. Throws NameNotResolved. */
  targets(host: string, signal: AbortSignal): Promise<Target[]>;
  /**
   * One GET of `url` at exactly `address`, with the Host header and SNI of the URL. The certificate is not verified and
   * no redirect followed; of the body at most `maxBytes` (default 64 KiB) are read. Throws VisitFailure.
   */
  get(
    url: URL,
    address: string,
    signal: AbortSignal,
    options?: { maxBytes?: number },
  ): Promise<ProbeResponse>;
  /**
   * `get` with at most 10 redirects followed, each hop resolved and checked anew; the first is at `address` if given.
   * Never throws for what the network does.
   */
  follow(
    url: URL,
    signal: AbortSignal,
    options?: { address?: string; maxBytes?: number },
  ): Promise<RedirectChain>;
  /**
   * A TLS handshake with SNI, verified against the well-known roots and those of the options. Never throws for what the
   * network does.
   */
  handshake(host: string, address: string, signal: AbortSignal): Promise<Handshake>;
}

export interface ProberOptions {
  resolver: DnsResolver;
  policy: AddressPolicy;
  clock: Clock;
  /** PEM; trusted besides the well-known roots. */
  extraRoots: string[];
  portsOf: (address: string) => WebPorts;
  /** After so many milliseconds every single connection ends as `timeout`; 8 s. */
  limitMs?: number;
}

const LIMIT_MS = 8000;
const MAX_BODY_BYTES = 64 * 1024;

export function createProber({
  resolver,
  policy,
  clock,
  extraRoots,
  portsOf,
  limitMs = LIMIT_MS,
}: ProberOptions): Prober {
  const handshake = createHandshake({ clock, extraRoots, limitMs });

  const prober: Prober = {
    async targets(host, signal) {
      const name = bareHost(host);
      const addresses = isIP(name) === 0 ? await addressesOf(resolver, name, signal) : [name];
      return addresses.map((address) => ({
        address,
        family: isIP(address) === 6 ? 6 : 4,
        allowed: policy(address),
      }));
    },

    async get(url, address, signal, { maxBytes = MAX_BODY_BYTES } = {}) {
      refuseUnsafeUrl(url);
      if (!policy(address)) {
        throw new ProbeFailure(
          'private_address',
          `${quotable(url.href)} leads to ${refusedAddress(address)}.`,
        );
      }
      const ports = portsOf(address);
      if (!isWebPort(url, ports)) throw portRefused(url);
      return getAt(url, address, signal, { ports, maxBytes, limitMs });
    },

    follow: (url, signal, options) => followRedirects({ ...prober, portsOf }, url, signal, options),

    async handshake(host, address, signal) {
      if (policy(address)) return handshake(bareHost(host), address, portsOf(address).https, signal);
      const sentence = `${quotable(host)} leads to ${refusedAddress(address)}.`;
      return { certificate: null, failure: { problem: 'private_address', sentence } };
    },
  };
  return prober;
}
