import type { AddressRange } from '../../../config/settings/setting-values.ts';

/**
 * Limit of concurrent requests from one address block. A browser sends up to 128 concurrent requests by HTTP/2, each of which
 * counts, and an office shares one address.
 */
const MOST_REQUESTS = 512;

/**
 * Identifies visitors (the peer, or the address from a trusted proxy) and limits the requests of each. nginx reaches its own
 * servers by Unix sockets; their requests do not count (empty key).
 */
export function renderClients(trustedProxies: AddressRange[]): string {
  const proxies = trustedProxies.map(([address, bits]) => `set_real_ip_from ${address}/${bits};`);
  return `${proxies.length === 0 ? '' : `${proxies.join('\n')}\nreal_ip_header X-Forwarded-For;\nreal_ip_recursive on;`}
map $binary_remote_addr $client_block {
    default $binary_remote_addr;
    "unix:" "";
    "~(?s)^(?<ipv6_block>.{8}).{8}\\z" $ipv6_block;
}
limit_conn_zone $client_block zone=homeport_clients:2m;
limit_conn homeport_clients ${MOST_REQUESTS};
limit_conn_status 429;
limit_conn_log_level info;`;
}
