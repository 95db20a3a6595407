/** Replaces a wildcard address, on which a server of this machine listens, by one that clients can connect to. */
export function connectableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
