import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import mime from 'mime-types';
import type { ListenAddress } from '../../../setting-values.ts';
import { quoted } from './quote.ts';
import { renderStorageServer, type StorageServerOptions } from './render-offload.ts';
import type { EdgeOptions } from './render-vhost.ts';
import { generationPath, generationText, renderStatusServer } from './status-server.ts';
import { NOTICE_PAGES, noticeUri, renderText, renderWellKnown } from './well-known.ts';

export interface MainOptions extends EdgeOptions {
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
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
export function listenValue({ host, port }: ListenAddress, options: string): string {
  const address = isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
  return [address, ...(host === '::' ? ['ipv6only=off'] : []), ...(options === '' ? [] : [options])].join(
    ' ',
  );
}

export function renderMain(options: MainOptions, vhostFiles: string[]): RenderedMain {
  const includes = vhostFiles.map((file) => `    include ${quoted(file)};`).join('\n');
  const draft = `${renderProcess(options)}
http {
${renderHttp(options)}
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

/**
 * Bytes that nginx may write to one file: a body that a visitor sends, and some. An answer that is kept is written whole, whatever the
 * size of its cache, so one that is longer and did not say so breaks off here.
 */
export const LARGEST_FILE = 80 * 1024 * 1024;

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
  const dns = resolvers.map(({ host, port }) => (isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`));
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
charset utf-8;
charset_types ${CHARSET_TYPES.join(' ')};
default_type application/octet-stream;
types_hash_max_size 8192;
types {
${renderTypes()}
}

gzip on;
gzip_vary on;
gzip_proxied any;
gzip_comp_level 4;
gzip_min_length 512;
gzip_types ${GZIP_TYPES.join(' ')};

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

/** `text/html` is always among them. */
const CHARSET_TYPES = [
  'text/css',
  'text/csv',
  'text/javascript',
  'text/markdown',
  'text/plain',
  'text/vtt',
  'text/xml',
  'application/javascript',
  'application/json',
  'application/manifest+json',
  'application/rss+xml',
  'image/svg+xml',
];

const GZIP_TYPES = [
  ...CHARSET_TYPES,
  'application/atom+xml',
  'application/ld+json',
  'application/vnd.ms-fontobject',
  'application/wasm',
  'application/xhtml+xml',
  'application/xml',
  'font/otf',
  'font/ttf',
  'image/bmp',
  'image/x-icon',
  'image/vnd.microsoft.icon',
];

function renderTypes(): string {
  const extensions = Map.groupBy(Object.entries(mime.types), ([, type]) => type);
  return [...extensions]
    .map(([type, entries]) => `    ${type} ${entries.map(([extension]) => extension).join(' ')};`)
    .join('\n');
}

/** Cookies of visitors who are shown pages of their own. */
const PERSONAL_COOKIES = [
  'wordpress_logged_in',
  'wordpress_sec',
  'wp-postpass',
  'comment_author',
  'woocommerce_items_in_cart',
  'woocommerce_cart_hash',
  'wp_woocommerce_session',
  'edd_items_in_cart',
];

/** Paths below which every answer may be for one visitor alone. */
const PERSONAL_PATHS = 'wp-admin|wp-login\\.php|wp-json|wp-cron\\.php|xmlrpc\\.php|cart|checkout|my-account';

/** What may be kept without having told its length, which downloads may not. */
const PAGE_TYPES =
  'text/(?!event-stream)|image/|font/|application/(?:[a-z0-9.+-]*(?:json|xml)|(?:x-)?javascript)(?:[ ;]|$)';

/**
 * Where a visitor named a port, redirects and WordPress name one too. Who names none came by the default port, through a
 * forwarding rule perhaps, and the ports that nginx listens on are none of their business. The authority of a target in absolute form
 * overrules the Host header (RFC 9112 section 3.2.2).
 */
function renderMaps({ edgeHttps }: MainOptions): string {
  const httpsPort = edgeHttps.port === 443 ? '""' : `":${edgeHttps.port}"`;
  return `map $request $authority {
    default $http_host;
    "~*^\\S+ https?://(?<target_authority>[^/?#\\s]*)" $target_authority;
}
map "$scheme $authority" $port_suffix {
    default "";
    "~^http [^:]*:80$" "";
    "~^https [^:]*:443$" "";
    "~(?<named_port>:\\d{1,5})$" $named_port;
}
map $authority $https_port_suffix {
    default "";
    "~:\\d{1,5}$" ${httpsPort};
}
map $request_uri $unsendable {
    default 1;
    "~^/[\\x21\\x22\\x24-\\x5b\\x5d-\\x7e]*$" 0;
}
map $request_method $php_method {
    default $request_method;
    HEAD GET;
}
map $http_cookie $personal_cookie {
    default "";
    "~(?:^|;\\s*)(?:${PERSONAL_COOKIES.join('|')})" 1;
}
map $request_uri $personal_path {
    default "";
    "~*^[^?]*/(?:${PERSONAL_PATHS})(?:[/?]|$)" 1;
    "~[?&]rest_route=" 1;
}
map "$upstream_http_content_length $upstream_http_content_type" $large_answer {
    default 1;
    "~^\\d{1,7} " "";
    "~*^ (?:${PAGE_TYPES})" "";
}
map $upstream_cache_status $cache_state {
    default $upstream_cache_status;
    "" BYPASS;
    EXPIRED MISS;
    REVALIDATED HIT;
    UPDATING STALE;
}`;
}

/**
 * How PHP is asked. The key of the cache holds all of the address that PHP is told, port included, so that nobody can have a page
 * kept for others that names another one. HEAD becomes GET, or an empty page would be kept; what is compressed is compressed by nginx.
 */
function renderPhp(): string {
  return `fastcgi_param QUERY_STRING $query_string;
fastcgi_param REQUEST_METHOD $php_method;
fastcgi_param CONTENT_TYPE $content_type;
fastcgi_param CONTENT_LENGTH $content_length;
fastcgi_param SCRIPT_NAME $fastcgi_script_name;
fastcgi_param SCRIPT_FILENAME $document_root$fastcgi_script_name;
fastcgi_param PATH_INFO $path_info if_not_empty;
fastcgi_param REQUEST_URI $request_uri;
fastcgi_param DOCUMENT_URI $document_uri;
fastcgi_param DOCUMENT_ROOT $document_root;
fastcgi_param SERVER_PROTOCOL $server_protocol;
fastcgi_param REQUEST_SCHEME $scheme;
fastcgi_param HTTPS $https if_not_empty;
fastcgi_param GATEWAY_INTERFACE CGI/1.1;
fastcgi_param SERVER_SOFTWARE nginx;
fastcgi_param REMOTE_ADDR $remote_addr;
fastcgi_param REMOTE_PORT $remote_port;
fastcgi_param SERVER_ADDR $server_addr;
fastcgi_param SERVER_PORT $server_port;
fastcgi_param SERVER_NAME $host;
fastcgi_param REDIRECT_STATUS 200;
fastcgi_param HTTP_HOST $host$port_suffix;
fastcgi_param HTTP_PROXY "";
fastcgi_param HTTP_ACCEPT_ENCODING "";

fastcgi_connect_timeout 5s;
fastcgi_read_timeout 120s;
fastcgi_buffer_size 32k;
fastcgi_buffers 16 16k;
fastcgi_max_temp_file_size 16m;
fastcgi_hide_header X-Powered-By;
fastcgi_ignore_headers X-Accel-Redirect X-Accel-Limit-Rate X-Accel-Charset;

fastcgi_cache_key $scheme://$host$port_suffix$request_uri;
fastcgi_cache_methods GET HEAD;
fastcgi_cache_valid 200 203 301 308 410 60s;
fastcgi_cache_bypass $personal_cookie $personal_path $http_authorization;
fastcgi_no_cache $personal_cookie $personal_path $http_authorization $large_answer;
fastcgi_cache_use_stale updating error timeout invalid_header http_500 http_503;
fastcgi_cache_background_update on;
fastcgi_cache_lock on;
fastcgi_cache_lock_timeout 10s;
fastcgi_cache_lock_age 10s;
`;
}

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
