import type { S3Service } from '../../../network/object-storage/s3-address.ts';
import {
  ACME_CHALLENGE_PREFIX,
  DOMAIN_CHECK_PREFIX,
  type OffloadPath,
  type OffloadRules,
} from '../../contract/host.ts';
import { MARKER_PREFIX } from '../../policy/marker.ts';
import { barePath, byPrecedence, offloadOrigin } from '../../policy/offload-origin.ts';
import { literally, quoted, quotedPattern } from './quote.ts';
import { NOTICE_PAGES, noticeUri } from './well-known.ts';

/** Follows the beginning of a path to a hidden file; RFC 8615's folder is not hidden. */
const HIDDEN_AT_TOP = '/\\.(?!well-known(?:/|$))';
const HIDDEN_BELOW = '/[^/]+/\\.';
/** Paths of hidden files. */
export const HIDDEN_PATTERN = `^${HIDDEN_AT_TOP}|${HIDDEN_BELOW}`;

/** The variable for the handling of a request: `break`, `permanent`, or empty. */
function variableOf(installId: string): string {
  return `$offload_${installId.replaceAll('-', '')}`;
}

/**
 * The map for that variable. The rule with the longest prefix wins. Its excluded paths stay on the install, and so do folders,
 * because buckets have none. Throws a {@link PermanentHostError} for a path with control characters.
 */
export function renderOffloadMap(installId: string, { paths }: OffloadRules): string {
  const own = [ACME_CHALLENGE_PREFIX, DOMAIN_CHECK_PREFIX, MARKER_PREFIX].map(literally).join('|');
  const stays = ['^(?!(?:GET|HEAD)/)', '/$', `^[A-Z]+(?:${HIDDEN_AT_TOP}|${own})`, HIDDEN_BELOW];
  const rules = byPrecedence(paths).flatMap(({ path, excludedPaths, redirectType }) => [
    ...together(excludedPaths).map((excluded) => line(below(excluded), '')),
    line(below([path]), redirectType),
  ]);
  return `map $request_method$uri ${variableOf(installId)} {
    default "";
${[...stays.map((pattern) => line(pattern, '')), ...rules].join('\n')}
}`;
}

function line(pattern: string, outcome: OffloadPath['redirectType'] | ''): string {
  return `    ${quotedPattern(`~${pattern}`)} "${outcome}";`;
}

/** Length of the paths in one pattern: nginx's parameters must be shorter than 4,096 bytes. */
const MOST_BYTES = 3800;

/** As few groups as possible: nginx tries one pattern after the other for every request. */
function together(paths: string[]): string[][] {
  const groups: string[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const path of paths) {
    const more = Buffer.byteLength(quotedPattern(literally(barePath(path))));
    if (bytes + more > MOST_BYTES) {
      groups.push([]);
      bytes = 0;
    }
    groups.at(-1)?.push(path);
    bytes += more;
  }
  return groups;
}

/** A pattern for the paths and everything below, at segment borders: `/up` matches `/up/a` but not `/upper`. */
function below(paths: string[]): string {
  const bases = paths.map(barePath);
  if (bases.includes('')) return '^[A-Z]+/';
  return `^[A-Z]+/(?:${bases.map(literally).join('|')})(?:/|$)`;
}

/** The offload rules of a website's server. Throws a {@link PermanentHostError} for an invalid bucket. */
export function renderOffload(installId: string, rules: OffloadRules, service: S3Service): string {
  const { base, fetchBase } = offloadOrigin(service, rules);
  const redirect = `"${quoted(base).slice(1, -1)}$1"`;
  return renderOffloadLocations({ variable: variableOf(installId), redirect, bucket: quoted(fetchBase) });
}

/**
 * Offloaded paths leave before nginx selects a location. `redirect`: the address for visitors, `bucket`: for nginx. Redirects encode
 * the path again and keep the query. nginx passes here again at each internal redirect, so a path missing in the storage is marked to be
 * served by the install.
 */
export function renderOffloadLocations({
  variable,
  redirect,
  bucket,
}: Record<'variable' | 'redirect' | 'bucket', string>): string {
  return `if (${variable} = permanent) {
    rewrite "(?s)^(.*)$" ${redirect} permanent;
}
if (${variable} = break) {
    return 418;
}
${NOTICE_PAGES}
error_page 418 = @storage;
location @storage {
    proxy_pass http://homeport_storage;
    proxy_set_header X-Homeport-Bucket ${bucket};
    proxy_intercept_errors on;
    error_page 403 404 = @kept;
    error_page 300 301 302 303 307 308 400 401 405 429 500 501 502 503 504 = @storage_failed;
    add_header X-Cache BYPASS always;
    add_header X-Content-Type-Options nosniff always;
}
location @kept {
    set ${variable} "";
    rewrite ^ $uri last;
}
location @storage_failed {
    set ${variable} "";
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
