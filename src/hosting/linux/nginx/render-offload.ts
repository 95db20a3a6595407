import { WITHOUT_UNANNOUNCED_BODY } from './body-limits.ts';
import { quoted } from './quote.ts';
import { NOTICE_PAGES, noticeUri } from './well-known.ts';

/**
 * Offloaded paths leave before nginx selects a location. Redirects encode the path again and keep the query. nginx passes here again at
 * each internal redirect, so a path missing in the storage is marked to be served by the install.
 */
export function renderOffload(): string {
  return `if ($offload = permanent) {
    rewrite "(?s)^(.*)$" $offload_base$1 permanent;
}
if ($offload = break) {
    return 418;
}
${NOTICE_PAGES}
error_page 418 = @storage;
location @storage {
    ${WITHOUT_UNANNOUNCED_BODY}
    proxy_pass http://homeport_storage;
    proxy_set_header X-Homeport-Bucket $offload_fetch_base;
    proxy_intercept_errors on;
    error_page 403 404 = @kept;
    error_page 300 301 302 303 307 308 400 401 405 429 500 501 502 503 504 = @storage_failed;
    add_header X-Cache BYPASS always;
    add_header X-Content-Type-Options nosniff always;
}
location @kept {
    set $offload "";
    rewrite ^ $uri last;
}
location @storage_failed {
    set $offload "";
    error_page 502 ${noticeUri('storage')};
    if (-f $request_filename) {
        rewrite ^ $uri last;
    }
    return 502;
}`;
}

export interface StorageServerOptions {
  /** Unix socket that the websites' servers connect to. */
  socket: string;
  /** PEM file of root certificates for the storage's certificate; null if the machine has none. */
  roots: string | null;
}

/** Headers of an object that visitors do not need. */
const HIDDEN_HEADERS = [
  'Set-Cookie',
  'Strict-Transport-Security',
  'x-amz-bucket-region',
  'x-amz-expiration',
  'x-amz-id-2',
  'x-amz-mp-parts-count',
  'x-amz-replication-status',
  'x-amz-request-id',
  'x-amz-server-side-encryption',
  'x-amz-server-side-encryption-aws-kms-key-id',
  'x-amz-storage-class',
  'x-amz-version-id',
];

/**
 * The server that fetches objects for all websites. It is a single one, because nginx loads the root certificates for each TLS
 * client: a thousand times would be gigabytes. Only nginx reaches its socket. It passes on the requested range, but nothing else
 * of the visitor's request. Because S3 has no If-Range, a request with that header gets the whole object, so that parts of
 * different versions are never mixed.
 */
export function renderStorageServer({ socket, roots }: StorageServerOptions): string {
  const answer =
    roots === null
      ? 'return 502;'
      : `rewrite "(?s)^(.*)$" /?$1? break;
        proxy_pass $http_x_homeport_bucket$args;`;
  return `map $http_if_range $storage_range {
    default "";
    "" $http_range;
}
upstream homeport_storage {
    server ${quoted(`unix:${socket}`)};
    keepalive 16;
}
server {
    listen ${quoted(`unix:${socket}`)};
    server_name _;
    gzip off;
    recursive_error_pages off;
    header_filter_by_lua_block { require("answer-status").header_filter() }
    proxy_pass_request_headers off;
    proxy_set_header Range $storage_range;
    proxy_set_header If-None-Match $http_if_none_match;
    proxy_set_header If-Modified-Since $http_if_modified_since;
    proxy_set_header Connection "";
    proxy_connect_timeout 5s;
    proxy_ssl_server_name on;
    proxy_ssl_verify ${roots === null ? 'off' : 'on'};
    proxy_ssl_verify_depth 5;
    ${roots === null ? '' : `proxy_ssl_trusted_certificate ${quoted(roots)};`}
${HIDDEN_HEADERS.map((name) => `    proxy_hide_header ${name};`).join('\n')}
    location / {
        ${answer}
    }
}`;
}
