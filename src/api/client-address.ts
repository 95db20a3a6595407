import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import ipaddr from 'ipaddr.js';
import type { AddressRange } from '../config/config.ts';

/** Whether `address` is one of the proxies that the configuration names. */
export function trustsAddress(trusted: AddressRange[], address: string | undefined): boolean {
  if (trusted.length === 0 || address === undefined || !ipaddr.isValid(address)) return false;
  // Behind a dual-stack socket an IPv4 peer shows as ::ffff:a.b.c.d.
  const parsed = ipaddr.process(address);
  return trusted.some(([range, bits]) => parsed.kind() === range.kind() && parsed.match(range, bits));
}

/**
 * Whether a request used HTTPS (docs/api.md, Requests and responses): TLS to this process, or TLS to a trusted proxy
 * according to its X-Forwarded-Proto. Ignores that header from other addresses.
 */
export function isHttps(request: IncomingMessage, trusted: AddressRange[]): boolean {
  const said = request.headers['x-forwarded-proto'];
  if (said !== undefined && trustsAddress(trusted, request.socket.remoteAddress)) {
    const last = String(said).split(',').at(-1)?.trim().toLowerCase();
    return last === 'https';
  }
  return request.socket instanceof TLSSocket;
}
