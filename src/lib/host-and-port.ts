import { isIPv6 } from 'node:net';

/** A host and a port in one text, as URLs and most configurations have it: an IPv6 address stands in brackets. */
export function hostAndPort({ host, port }: { host: string; port: number }): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
