import type { IncomingMessage } from 'node:http';
import { isIPv4 } from 'node:net';
import { TLSSocket } from 'node:tls';
import ipaddr from 'ipaddr.js';
import type { AddressRange } from '../config.ts';

/** Whether `address` is one of the proxies that the configuration names. */
export function trustsAddress(trusted: AddressRange[], address: string | undefined): boolean {
  if (trusted.length === 0 || address === undefined || !ipaddr.isValid(address)) return false;
  // Behind a dual-stack socket an IPv4 peer shows as ::ffff:a.b.c.d.
  const parsed = ipaddr.process(address);
  return trusted.some(([range, bits]) => parsed.kind() === range.kind() && parsed.match(range, bits));
}

/**
 * What limits by address count by: an IPv4 address, or the /64 of an IPv6 one, which is what a single customer of a
 * provider has to choose from (RFC 6177).
 */
export function addressBlock(address: string | undefined): string {
  if (address === undefined) return 'unknown';
  // By far the most, and there is nothing to work out.
  if (isIPv4(address)) return address;
  if (!ipaddr.isValid(address)) return 'unknown';
  const parsed = ipaddr.process(address);
  return parsed instanceof ipaddr.IPv6
    ? `${parsed.parts
        .slice(0, 4)
        .map((part) => part.toString(16))
        .join(':')}::/64`
    : parsed.toString();
}

/**
 * Whether a request came by HTTPS (gaps section 1): by TLS to this process, or, from a trusted proxy that says so, by
 * TLS to the proxy. What anyone else says is ignored.
 */
export function isHttps(request: IncomingMessage, trusted: AddressRange[]): boolean {
  const said = request.headers['x-forwarded-proto'];
  if (said !== undefined && trustsAddress(trusted, request.socket.remoteAddress)) {
    const last = String(said).split(',').at(-1)?.trim().toLowerCase();
    return last === 'https';
  }
  return request.socket instanceof TLSSocket;
}
