import { hash } from 'node:crypto';
import type { AddressRange, ListenAddress } from '../../../config/settings/setting-values.ts';
import { hostAndPort } from '../../../lib/host-and-port.ts';
import { renderContentTypes } from './content-types.ts';
import { quoted } from './quote.ts';
import { renderClients } from './render-clients.ts';
import { renderMaps } from './render-maps.ts';
import { renderStorageServer, type StorageServerOptions } from './render-offload.ts';
import { renderPhp } from './render-php.ts';
import type { EdgeOptions } from './render-vhost.ts';
import { generationPath, generationText, renderStatusServer } from './status-server.ts';
import { NOTICE_PAGES, noticeUri, renderText, renderWellKnown } from './well-known.ts';

export interface MainOptions extends EdgeOptions {
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
  /** Proxies whose `X-Forwarded-For` is trusted. */
  trustedProxies: AddressRange[];
  /** DNS servers for the names of object storage. */
  resolvers: ListenAddress[];
  storage: StorageServerOptions;
  /** Unix socket that reports the running configuration. */
  statusSocket: string;
  pidFile: string;
  /** Folder for bodies and answers that are too large for memory. */
  temporary: string;
  /** PEM file with certificate and key for names without a certificate. */
  ownCertificate: string;
  /** Changes with that certificate, so that a new one makes a new configuration. */
  ownFingerprint: string;
  /** Identifies this nginx among those of other hosts on the machine. */
  instance: string;
  /** Unix user of the worker processes. */
  user: string;
  /** Maximum of open files per worker. */
  openFiles: number;
}

/** The main configuration, which includes that of each website by path. */
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

export function renderMain(options: MainOptions, vhostFiles: string[]): RenderedMain {
  const includes = vhostFiles.map((file) => `    include ${quoted(file)};`).join('\n');
  const draft = `${renderProcess(options)}
http {
${renderHttp(options)}
${renderClients(options.trustedProxies)}
${renderMaps(options)}
${renderPhp()}
${renderStorageServer(options.storage)}
${renderStatusServer(options.statusSocket, options.instance, MARKER_PLACE)}
${renderDefaultServer(options)}
${includes}
}
`;
  const generation = hash('sha256', draft, 'hex');
  const marker = renderText(generationPath(generation), generationText(generation));
  return { generation, text: draft.replace(MARKER_PLACE, marker) };
}

const MARKER_PLACE = '# generation';

/** Connections that each worker allocates at start. */
const MOST_CONNECTIONS = 8192;

/**
 * Errors of requests are in the log of `http`. The main process reports only critical errors, because the cache manager
 * complains about every purged page.
 */
export function renderProcess({
  user,
  pidFile,
  openFiles,
}: Pick<MainOptions, 'user' | 'pidFile' | 'openFiles'>): string {
  return `user ${user};
worker_processes auto;
worker_rlimit_nofile ${openFiles};
worker_shutdown_timeout 30s;
pid ${quoted(pidFile)};
error_log stderr alert;
events {
    worker_connections ${Math.min(MOST_CONNECTIONS, Math.floor(openFiles / 2))};
    multi_accept on;
}`;
}

/** Without `tcp_nopush`, which would hold back the end of a stale page until its update is complete. */
export function renderHttp({ temporary, resolvers }: Pick<MainOptions, 'temporary' | 'resolvers'>): string {
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
client_max_body_size 64m;
large_client_header_buffers 4 16k;
server_names_hash_bucket_size 512;
server_names_hash_max_size 65536;
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

/** The server for all other names. It also declares the variables that no website may set. */
function renderDefaultServer(options: MainOptions): string {
  const { edgeHttp, edgeHttps, layout, notices } = options;
  return `server {
    listen ${listenValue(edgeHttp, 'default_server backlog=4096')};
    listen ${listenValue(edgeHttps, 'ssl http2 default_server backlog=4096')};
    server_name _;
    set $path_info "";
    set $install "";
    # ${options.ownFingerprint}
    ssl_certificate ${quoted(options.ownCertificate)};
    ssl_certificate_key ${quoted(options.ownCertificate)};
    error_page 404 ${noticeUri('no-website')};
${renderWellKnown({ proofs: layout.proofs, notices, unproved: '=404' })}
    location / {
        return 404;
    }
}`;
}
