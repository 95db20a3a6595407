import { isIP } from 'node:net';
import type { Logger } from 'pino';
import type { Clock } from '../../lib/clock.ts';
import { bareHost } from '../../lib/host-names.ts';
import { addressesOf, type DnsResolver } from '../dns/resolver.ts';
import type { AddressPolicy } from './address-policy.ts';
import type { Handshake } from './handshake.ts';
import { isolatedProbes } from './isolated-probes.ts';
import { ProbeFailure, type ProbeResponse, refusedAddress } from './probe-response.ts';
import { followRedirects, type RedirectChain } from './redirect-chain.ts';
import type { Target } from './target.ts';
import { quotable } from './untrusted-text.ts';
import { isWebPort, portRefused, refuseUnsafeUrl, type WebPorts } from './web-urls.ts';

export type { Handshake } from './handshake.ts';
export type { PeerCertificate } from './peer-certificate.ts';
export { ProbeFailure, type ProbeProblem, type ProbeResponse } from './probe-response.ts';
export type { RedirectChain } from './redirect-chain.ts';
export type { Target } from './target.ts';
export type { TlsFailure, TlsProblem } from './tls-verdict.ts';
export type { WebPorts } from './web-urls.ts';

/** Opens host names as a visitor would, but only at addresses that the policy allows. */
export interface Prober {
  /** Resolves all addresses of a host name or IP literal. Throws NameNotResolved. */
  targets(host: string, signal: AbortSignal): Promise<Target[]>;
  /**
   * Sends one GET for `url` to exactly `address`, with the Host header and SNI of the URL. Does not verify the certificate
   * or follow redirects. Reads at most `maxBytes` of the body (default 64 KiB). Throws ProbeFailure.
   */
  get(
    url: URL,
    address: string,
    signal: AbortSignal,
    options?: { maxBytes?: number },
  ): Promise<ProbeResponse>;
  /**
   * Like `get`, but follows at most 10 redirects. Resolves and checks each hop again; the first one uses `address` if
   * given. Network errors never throw.
   */
  follow(
    url: URL,
    signal: AbortSignal,
    options?: { address?: string; maxBytes?: number },
  ): Promise<RedirectChain>;
  /**
   * Makes a TLS handshake with SNI and verifies the certificate against the well-known roots and the extra ones. Network
   * errors never throw.
   */
  handshake(host: string, address: string, signal: AbortSignal): Promise<Handshake>;
}

export interface ProberOptions {
  resolver: DnsResolver;
  policy: AddressPolicy;
  clock: Clock;
  /** Extra PEM to trust, besides the well-known roots. */
  extraRoots: string[];
  portsOf: (address: string) => WebPorts;
  log: Logger;
  /** Timeout of each connection in milliseconds; default 8 s. */
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
  log,
  limitMs = LIMIT_MS,
}: ProberOptions): Prober {
  const { getAt, makeHandshake } = isolatedProbes(log);

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
      return getAt({ url: url.href, address, ports, maxBytes, limitMs }, signal);
    },

    follow: (url, signal, options) => followRedirects({ ...prober, portsOf }, url, signal, options),

    async handshake(host, address, signal) {
      if (policy(address)) {
        const { https: port } = portsOf(address);
        const now = clock.now();
        return makeHandshake({ host: bareHost(host), address, port, now, extraRoots, limitMs }, signal);
      }
      const sentence = `${quotable(host)} leads to ${refusedAddress(address)}.`;
      return { certificate: null, failure: { problem: 'private_address', sentence } };
    },
  };
  return prober;
}
