import { isIPv6 } from 'node:net';

/** `host:port` as in URLs, with an IPv6 address in brackets. */
export function hostAndPort({ host, port }: { host: string; port: number }): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}
