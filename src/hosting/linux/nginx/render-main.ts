import type { ListenAddress } from '../../../config/settings/setting-values.ts';
import { hostAndPort } from '../../../lib/host-and-port.ts';
import { bodyMb } from '../../policy/php-limits.ts';
import { renderContentTypes } from './content-types.ts';
import type { MachineOptions } from './machine-options.ts';
import { quoted } from './quote.ts';
import { NOTICE_PAGES } from './well-known.ts';

/** nginx's configuration. */
export interface RenderedMain {
  /** SHA-256 of the configuration, hex. */
  generation: string;
  text: string;
}

/** An address for `listen`. The IPv6 wildcard address includes IPv4. */
export function listenValue(address: ListenAddress, options: string): string {
  return [
    hostAndPort(address),
    ...(address.host === '::' ? ['ipv6only=off'] : []),
    ...(options === '' ? [] : [options]),
  ].join(' ');
}

/** Connections that each worker allocates at start. */
const MOST_CONNECTIONS = 8192;

/** Errors of requests are in the log of `http`. The main process reports only critical errors. */
export function renderProcess({
  user,
  pidFile,
  openFiles,
}: Pick<MachineOptions, 'user' | 'pidFile' | 'openFiles'>): string {
  return `user ${user};
worker_processes auto;
pcre_jit on;
worker_rlimit_nofile ${openFiles};
worker_shutdown_timeout 30s;
pid ${quoted(pidFile)};
error_log stderr alert;
events {
    worker_connections ${Math.min(MOST_CONNECTIONS, Math.floor(openFiles / 2))};
    multi_accept on;
}`;
}

/**
 * The largest body is that of any install; Lua knows the limit of each. Without `tcp_nopush`, which would hold back the end of a stale page until its
 * update is complete.
 */
export function renderHttp({
  temporary,
  resolvers,
  uploadMb,
}: Pick<MachineOptions, 'temporary' | 'resolvers' | 'uploadMb'>): string {
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${quoted(`${temporary}/${kind}`)};`,
  );
  const dns = resolvers.map(hostAndPort);
  return `error_log stderr error;
access_log off;
log_not_found off;
server_tokens off;
${places.join('\n')}
${dns.length === 0 ? '' : `resolver ${dns.join(' ')} valid=30s;\nresolver_timeout 5s;`}

sendfile on;
keepalive_timeout 30s;
keepalive_requests 10000;
client_header_timeout 15s;
client_body_timeout 30s;
send_timeout 60s;
reset_timedout_connection on;
client_max_body_size ${bodyMb(Math.max(uploadMb.standard, uploadMb.most))}m;
large_client_header_buffers 4 16k;
map_hash_bucket_size 256;
variables_hash_max_size 16384;
absolute_redirect off;
recursive_error_pages on;
index index.html index.php;
${renderContentTypes()}

ssl_protocols TLSv1.2 TLSv1.3;
ssl_ciphers ${CIPHERS.join(':')};
ssl_prefer_server_ciphers off;
ssl_session_cache shared:homeport_tls:20m;
ssl_session_timeout 1d;
ssl_session_tickets off;
ssl_buffer_size 4k;

proxy_http_version 1.1;
proxy_set_header Connection "";
proxy_read_timeout 30s;
proxy_max_temp_file_size 0;

${NOTICE_PAGES}
`;
}

/** Ciphers with forward secrecy and authenticated encryption; TLS 1.3 has no others. */
const CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
];
