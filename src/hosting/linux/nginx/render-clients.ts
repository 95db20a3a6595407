import type { AddressRange } from '../../../config/settings/setting-values.ts';

/**
 * Limit of concurrent requests from one address block. A browser sends up to 128 concurrent requests by HTTP/2, each of which
 * counts, and an office shares one address.
 */
const MOST_REQUESTS = 512;

/** Limit of concurrent requests to one install: a quarter of what a worker of nginx accepts, so that no website takes all. */
const MOST_REQUESTS_OF_INSTALL = 2048;

/**
 * Limits of concurrent requests with a body that may be large, and of those with more than 100 MB. nginx keeps each body in a file
 * until PHP has read it.
 */
const MOST_UPLOADS = 16;
const MOST_UPLOADS_OF_INSTALL = 32;
const MOST_HUGE_UPLOADS_OF_INSTALL = 2;
/**
 * Lengths from 1,000,000 bytes on, and an encoding in place of a length. From HTTP/2 on, a body needs neither. nginx accepts
 * methods of these characters.
 */
const LARGE_BODY = '^[A-Z_-]+ [^:]*:(?:\\d{7}|\\D)';
const UNTOLD_BODY = '^(?!GET |HEAD |OPTIONS )[A-Z_-]+ HTTP/(?!1\\.)[^:]*:$';
/** So many bytes, or no length at an install that accepts so many. */
const HUGE_BODY = '^[^:]*:[^:]*:\\d{9}|^1:1:$';

/**
 * Identifies visitors (the peer, or the address from a trusted proxy) and limits the requests of each, and those to each
 * install, by the variable `install`. nginx reaches its own servers by Unix sockets; their requests do not count (empty key).
 */
export function renderClients(trustedProxies: AddressRange[]): string {
  const proxies = trustedProxies.map(([address, bits]) => `set_real_ip_from ${address}/${bits};`);
  return `${proxies.length === 0 ? '' : `${proxies.join('\n')}\nreal_ip_header X-Forwarded-For;\nreal_ip_recursive on;`}
map $binary_remote_addr $client_block {
    default $binary_remote_addr;
    "unix:" "";
    "~(?s)^\\x00{10}\\xff\\xff(?<ipv4_inside>.{4})\\z" $ipv4_inside;
    "~(?s)^(?<ipv6_block>.{8}).{8}\\z" $ipv6_block;
}
map "$request_method $server_protocol:$http_content_length$http_transfer_encoding" $is_upload {
    default "";
    "~${LARGE_BODY}" 1;
    "~${UNTOLD_BODY}" 1;
}
map $is_upload $upload_block {
    default "";
    1 $client_block;
}
map $is_upload $upload_install {
    default "";
    1 $install;
}
map "$is_upload:$large_bodies:$http_content_length" $huge_upload_install {
    default "";
    "~${HUGE_BODY}" $install;
}
limit_conn_zone $client_block zone=homeport_clients:2m;
limit_conn_zone $install zone=homeport_installs:2m;
limit_conn_zone $upload_block zone=homeport_uploads:1m;
limit_conn_zone $upload_install zone=homeport_install_uploads:1m;
limit_conn_zone $huge_upload_install zone=homeport_huge_uploads:1m;
limit_conn homeport_clients ${MOST_REQUESTS};
limit_conn homeport_installs ${MOST_REQUESTS_OF_INSTALL};
limit_conn homeport_uploads ${MOST_UPLOADS};
limit_conn homeport_install_uploads ${MOST_UPLOADS_OF_INSTALL};
limit_conn homeport_huge_uploads ${MOST_HUGE_UPLOADS_OF_INSTALL};
limit_conn_status 429;
limit_conn_log_level info;`;
}
