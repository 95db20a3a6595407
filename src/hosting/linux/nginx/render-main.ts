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
  /** Proxies whose `X-Forwarded-For` names the visitor. */
  trustedProxies: AddressRange[];
  /** DNS servers that the storage's names are looked up with. */
  resolvers: ListenAddress[];
  storage: StorageServerOptions;
  /** The Unix socket at which it says which configuration it is. */
  statusSocket: string;
  pidFile: string;
  /** Where bodies and answers go that are too large for memory. */
  temporary: string;
  /** PEM file, certificate and key: what is shown for names that have none. */
  ownCertificate: string;
  /** Tells one own certificate from the next, so that a new one is a new configuration. */
  ownFingerprint: string;
  /** Tells this nginx from that of another host on the machine. */
  instance: string;
  /** Unix user of the worker processes. */
  user: string;
  /** How many files a worker may have open. */
  openFiles: number;
}

/** The whole configuration, which includes that of each website by path. */
export interface RenderedMain {
  /** Tells it from any other: SHA-256, hex. */
  generation: string;
  text: string;
}

/** An address as `listen` takes it. An IPv6 one that stands for all addresses stands for the IPv4 ones too. */
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

/** Connections that nginx allocates at start, for each worker. */
const MOST_CONNECTIONS = 8192;

/**
 * What is wrong with a request is in the log of `http`. The process itself reports only what is grave, since the cache manager
 * complains of every page that was purged when its time comes.
 */
function renderProcess({ user, pidFile, openFiles }: MainOptions): string {
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

/**
 * No `tcp_nopush`: the end of a page that is shown while it is made anew would wait in the kernel until that is done.
 */
function renderHttp({ temporary, resolvers }: MainOptions): string {
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

/** With forward secrecy and authenticated encryption; TLS 1.3 has no others. */
const CIPHERS = [
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
];

/** What answers for all other names. It is also where the variables are declared that no website may set. */
function renderDefaultServer(options: MainOptions): string {
  const { edgeHttp, edgeHttps, layout, notices } = options;
  return `server {
    listen ${listenValue(edgeHttp, 'default_server backlog=4096')};
    listen ${listenValue(edgeHttps, 'ssl http2 default_server backlog=4096')};
    server_name _;
    set $path_info "";
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
