import type { ListenAddress } from '../../../config/settings/setting-values.ts';
import { PHP_WITHIN_SECONDS } from '../../../lib/php-limits.ts';
import { EDGE_HEADERS } from '../../policy/forwarded-headers.ts';
import { EDGE_NAME_SUFFIX } from '../../remote/edge-identity.ts';
import { variableName } from './forwarded-headers.ts';
import { quoted } from './quote.ts';
import { listenValue } from './render-main.ts';

/** How this edge and those of other hosts reach each other. */
export interface ForwardingOptions {
  listen: ListenAddress;
  /** PEM file with this edge's certificate and key. */
  identity: string;
  /** PEM file of the authority that the certificates of all edges are from. */
  authority: string;
  /** Changes with the identity, so that a new one makes a new configuration. */
  fingerprint: string;
}

/** Variables that the Lua module `forwarding` sets. */
export const FORWARDING_VARIABLES = [
  'forward_host',
  'forward_port',
  'forward_id',
  'forward_install',
  'forward_passed',
];

/** Limit of concurrent requests to one other edge, so that one that does not answer takes no more. */
const MOST_FORWARDED = 2048;
/** Limit of those for one website, so that no website takes all. */
const MOST_FORWARDED_OF_INSTALL = MOST_FORWARDED / 4;
/** Below the receiver's, so that a request never goes to a connection that is being closed. */
const KEPT_FOR = { sender: '20s', receiver: '75s' };
/** Longer than the other edge lets PHP take, so that its answer arrives. */
const ANSWERED_WITHIN = PHP_WITHIN_SECONDS + 30;
const ANSWER_HEADERS = '40k';

const VISITOR_VARIABLES = {
  visitor_scheme: ['$scheme', EDGE_HEADERS.scheme],
  visitor_protocol: ['$server_protocol', EDGE_HEADERS.protocol],
  visitor_server_addr: ['$server_addr', EDGE_HEADERS.serverAddress],
  visitor_server_port: ['$server_port', EDGE_HEADERS.serverPort],
} as const;

/**
 * Facts of the visitor's connection, from the headers of another edge if it forwards the request. Only the listener for other edges
 * verifies clients, so no visitor and no program on the machine can set them.
 */
export function renderVisitorMaps(): string {
  return `${Object.entries(VISITOR_VARIABLES)
    .map(
      ([name, [own, header]]) => `map $ssl_client_verify $${name} {
    default ${own};
    SUCCESS $${variableName(header)};
}`,
    )
    .join('\n')}
map $visitor_scheme $visitor_https {
    default "";
    https on;
}
# A proxy in front of this edge may name no port.
map "$remote_addr $remote_port" $visitor_address {
    default $remote_addr:$remote_port;
    "~ $" $remote_addr;
    "~:.* " "[$remote_addr]:$remote_port";
}`;
}

/** The edges of other hosts, for the level of `http`. */
export function renderForwardingHttp({ forwarding }: { forwarding: ForwardingOptions | null }): string {
  if (forwarding === null) return '';
  return `limit_conn_zone $forward_id zone=homeport_forwarded:1m;
limit_conn_zone $forward_install zone=homeport_forwarded_installs:1m;
limit_conn homeport_forwarded ${MOST_FORWARDED};
limit_conn homeport_forwarded_installs ${MOST_FORWARDED_OF_INSTALL};
upstream homeport_edges {
    server 0.0.0.1;
    balancer_by_lua_block { require("forwarding").balance() }
    keepalive 64;
    keepalive_timeout ${KEPT_FOR.sender};
    keepalive_requests 10000;
}`;
}

/** The listener for other edges. A client without a certificate from the authority gets 400 before anything of its request counts. */
export function renderForwardingListener({
  listen,
  identity,
  authority,
  fingerprint,
}: ForwardingOptions): string {
  return `listen ${listenValue(listen, 'ssl default_server backlog=4096')};
    # ${fingerprint}
    ssl_certificate ${quoted(identity)};
    ssl_certificate_key ${quoted(identity)};
    ssl_client_certificate ${quoted(authority)};
    ssl_verify_client on;
    ssl_verify_depth 1;
    ssl_protocols TLSv1.3;
    ssl_session_cache off;
    set_real_ip_from 0.0.0.0/0;
    set_real_ip_from ::/0;
    real_ip_header ${EDGE_HEADERS.visitor};
    real_ip_recursive off;
    large_client_header_buffers 8 16k;
    keepalive_timeout ${KEPT_FOR.receiver};`;
}

/**
 * Sends a request to the edge of the host that serves its name, and the answer as it comes. Nothing is kept here: the serving edge has the
 * page cache, and its limits, logs and counts see the visitor.
 */
export function renderForwardLocation({
  forwarding,
  brotli,
}: {
  forwarding: ForwardingOptions | null;
  brotli: boolean;
}): string {
  if (forwarding === null) return '';
  const { identity, authority } = forwarding;
  const headers = {
    Host: '$host$port_suffix',
    Connection: '""',
    Upgrade: '""',
    Expect: '""',
    TE: '""',
    [EDGE_HEADERS.visitor]: '$visitor_address',
    [EDGE_HEADERS.scheme]: '$visitor_scheme',
    [EDGE_HEADERS.protocol]: '$visitor_protocol',
    [EDGE_HEADERS.serverAddress]: '$visitor_server_addr',
    [EDGE_HEADERS.serverPort]: '$visitor_server_port',
    [EDGE_HEADERS.passed]: '$forward_passed',
  };
  return `location @forward {
    gzip off;
    ${brotli ? 'brotli off;' : ''}
    expires off;
    header_filter_by_lua_block { require("answer-status").header_filter() }
    proxy_pass https://homeport_edges;
    proxy_ssl_certificate ${quoted(identity)};
    proxy_ssl_certificate_key ${quoted(identity)};
    proxy_ssl_trusted_certificate ${quoted(authority)};
    proxy_ssl_verify on;
    proxy_ssl_verify_depth 1;
    proxy_ssl_name "$forward_id${EDGE_NAME_SUFFIX}";
    proxy_ssl_protocols TLSv1.3;
    proxy_ssl_session_reuse off;
    proxy_request_buffering off;
    proxy_buffering off;
    proxy_redirect off;
${Object.entries(headers)
  .map(([name, value]) => `    proxy_set_header ${name} ${value};`)
  .join('\n')}
    proxy_ignore_headers X-Accel-Expires X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset X-Accel-Buffering;
    proxy_connect_timeout 3s;
    proxy_send_timeout 60s;
    proxy_read_timeout ${ANSWERED_WITHIN}s;
    proxy_buffer_size ${ANSWER_HEADERS};
    proxy_buffers 8 ${ANSWER_HEADERS};
    proxy_busy_buffers_size 80k;
    proxy_next_upstream error;
}`;
}
