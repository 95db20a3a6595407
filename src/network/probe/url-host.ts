/** A host as the DNS and TLS know it: an IPv6 address without its brackets, a name without the final dot. */
export function hostOf(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}
